import { toSuppressedAddress } from '../../domain/addresses.js';
import { MAX_ACCOUNT_SUPPRESSIONS, SUPPRESSION_LIFETIME_MS } from '../../domain/delivery-reports.js';
import { type AccountId, idToBytes, newId, type SuppressionId } from '../../domain/ids.js';
import { joinKey, range, text, WHOLE_TABLE } from '../engine/keys.js';
import { jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import { addPending, removePending } from './pending.js';

/** An address that nobody's agents may send to: the operator says so. */
export interface SuppressionRecord {
  /** As `toSuppressedAddress` gives it; the key. */
  readonly address: string;
  /** For the admin. */
  readonly reason: string | null;
  readonly createdAt: number;
}

/** Suppressed address -> what is known of it; the list of the whole box. */
export const suppressionsTable: Table<string, SuppressionRecord> = {
  name: 'suppressions',
  encodeKey: text,
  ...jsonValue<SuppressionRecord>(1),
};

/**
 * Where an account has it from: the reply to a delivery of its own, a report of another system, or a complaint. Any
 * recipient of a message can forge the latter two, which is why they hold for that account alone.
 */
export type SuppressionSource = 'delivery' | 'report' | 'complaint';

/** An address that the agents of one account may not send to for the time being. */
export interface AccountSuppression {
  /** Of its entry in the pending index. */
  readonly id: SuppressionId;
  readonly accountId: AccountId;
  /** As `toSuppressedAddress` gives it. */
  readonly address: string;
  readonly source: SuppressionSource;
  /** For the admin: an enhanced code and what the server said, in one line. */
  readonly reason: string;
  readonly learntAt: number;
  /** When it lapses: the due instant of its entry in the pending index. It holds until the sweeper has come by. */
  readonly until: number;
}

export type AccountAddress = Pick<AccountSuppression, 'accountId' | 'address'>;

export const accountSuppressionsTable: Table<AccountAddress, AccountSuppression> = {
  name: 'account_suppressions',
  encodeKey: ({ accountId, address }) => joinKey(idToBytes(accountId), text(address)),
  ...jsonValue<AccountSuppression>(1),
};

/** Account -> how many entries it has; none for most, which sends then need not look for. */
export const suppressionCountsTable: Table<AccountId, number> = {
  name: 'suppression_counts',
  encodeKey: idToBytes,
  ...jsonValue<number>(1),
};

/** The operator's entry for `address`, in any spelling. */
export function findSuppression(reader: Reader, address: string): SuppressionRecord | undefined {
  const suppressed = toSuppressedAddress(address);
  return suppressed === null ? undefined : reader.get(suppressionsTable, suppressed);
}

/** An account's own entry for `address`, in any spelling. */
export function findAccountSuppression(
  reader: Reader,
  accountId: AccountId,
  address: string,
): AccountSuppression | undefined {
  const suppressed = toSuppressedAddress(address);
  return suppressed === null
    ? undefined
    : reader.get(accountSuppressionsTable, { accountId, address: suppressed });
}

/**
 * Those of the addresses that an account may not send to, by the operator's list or its own, each once, as given. Costs
 * a look for each address, and one for the account; two for each when the account has entries.
 */
export function suppressedRecipients(
  reader: Reader,
  accountId: AccountId,
  addresses: readonly string[],
): string[] {
  const hasOwn = reader.has(suppressionCountsTable, accountId);
  return [...new Set(addresses)].filter(given => {
    const address = toSuppressedAddress(given);
    if (address === null) return false;
    return (
      reader.has(suppressionsTable, address) ||
      (hasOwn && reader.has(accountSuppressionsTable, { accountId, address }))
    );
  });
}

/** A new entry of the operator's, or a new version of one. */
export function putSuppression(writer: Writer, record: SuppressionRecord): void {
  writer.put(suppressionsTable, record.address, record);
}

/** Takes an entry off the operator's list; `address` is that of a record. */
export function removeSuppression(writer: Writer, address: string): void {
  writer.remove(suppressionsTable, address);
}

/** The operator's entries in the order of their addresses' bytes, those behind `after`. */
export function scanSuppressions(reader: Reader, after: string | null, limit: number): SuppressionRecord[] {
  const entries = range(WHOLE_TABLE, after === null ? null : text(after));
  return reader.scan(suppressionsTable, { ...entries, limit }).map(entry => entry.value);
}

/**
 * Suppresses an address for an account until `SUPPRESSION_LIFETIME_MS` after it was learnt. An entry that is there takes
 * the new reason if it comes to last longer by it.
 * @returns false when it does not: mail cannot be sent to the address, or the account has as many entries as it may
 */
export function learnSuppression(
  writer: Writer,
  { address: given, ...facts }: Omit<AccountSuppression, 'id' | 'until'>,
): boolean {
  const address = toSuppressedAddress(given);
  if (address === null) return false;
  const { accountId, learntAt } = facts;
  const until = learntAt + SUPPRESSION_LIFETIME_MS;
  const before = writer.get(accountSuppressionsTable, { accountId, address });
  if (before !== undefined && before.until >= until) return true;
  if (before === undefined) {
    const count = writer.get(suppressionCountsTable, accountId) ?? 0;
    if (count >= MAX_ACCOUNT_SUPPRESSIONS) return false;
    writer.put(suppressionCountsTable, accountId, count + 1);
  } else {
    removePending(writer, { kind: 'lapse-suppression', dueAt: before.until, id: before.id });
  }
  const id = before?.id ?? newId<SuppressionId>(learntAt);
  writer.put(accountSuppressionsTable, { accountId, address }, { ...facts, id, address, until });
  addPending(writer, until, { kind: 'lapse-suppression', id, accountId, address });
  return true;
}

/** A new version of an entry that is there. Whoever changes `until` moves its pending entry. */
export function putAccountSuppression(writer: Writer, record: AccountSuppression): void {
  writer.put(accountSuppressionsTable, record, record);
}

/** The account may send to the address again; `entry` is one that is there. */
export function liftAccountSuppression(writer: Writer, entry: AccountSuppression): void {
  const { accountId, id, until } = entry;
  removePending(writer, { kind: 'lapse-suppression', dueAt: until, id });
  writer.remove(accountSuppressionsTable, entry);
  const count = writer.get(suppressionCountsTable, accountId) ?? 0;
  if (count > 1) writer.put(suppressionCountsTable, accountId, count - 1);
  else writer.remove(suppressionCountsTable, accountId);
}

/** Entries of one account, or of all by account, in the order of their addresses' bytes, those behind `after`. */
export function scanAccountSuppressions(
  reader: Reader,
  accountId: AccountId | null,
  after: AccountAddress | null,
  limit: number,
): AccountSuppression[] {
  const prefix = accountId === null ? WHOLE_TABLE : idToBytes(accountId);
  const behind = after === null ? null : accountSuppressionsTable.encodeKey(after);
  return reader.scan(accountSuppressionsTable, { ...range(prefix, behind), limit }).map(entry => entry.value);
}
