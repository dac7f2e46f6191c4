import { normaliseReason, toSuppressedAddress } from '../../domain/addresses.js';
import { saysNoSuchAddress } from '../../domain/delivery-reports.js';
import { notFound, refuse } from '../../domain/errors.js';
import { type AccountId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { getAccount } from '../../store/records/accounts.js';
import {
  type AccountAddress,
  type AccountSuppression,
  findAccountSuppression,
  findSuppression,
  learnSuppression,
  liftAccountSuppression,
  putSuppression,
  removeSuppression,
  type SuppressionRecord,
  type SuppressionSource,
  scanAccountSuppressions,
  scanSuppressions,
} from '../../store/records/suppressions.js';
import type { Clock } from '../ports.js';
import { type Cursors, type PageInput, page } from '../shared/pages.js';

/**
 * Nothing is sent to this address any more, in whatever letter case, by any account. An address that is on
 * the list stays as it is, with a new reason if one is given.
 */
export async function addSuppression(
  deps: { store: Store; clock: Clock },
  input: { readonly address: string; readonly reason?: string | undefined },
): Promise<SuppressionView> {
  const address = toSuppressedAddress(input.address);
  if (address === null) {
    throw refuse('invalid_request', `"${input.address}" is no email address: nothing was added.`);
  }
  const reason = normaliseReason(input.reason);
  return deps.store.write(writer => {
    const before = findSuppression(writer, address);
    const after: SuppressionRecord = {
      address,
      reason: reason ?? before?.reason ?? null,
      createdAt: before?.createdAt ?? deps.clock(),
    };
    putSuppression(writer, after);
    return viewOperators(after);
  });
}

/**
 * Mail may be sent to this address again: by any account, or by the one whose entry it is. The other entries for the
 * address stay. Gives what was known of it.
 */
export async function liftSuppression(
  deps: { store: Store },
  address: string,
  accountId: AccountId | null = null,
): Promise<SuppressionView> {
  return deps.store.write(writer => {
    if (accountId !== null) {
      const entry = findAccountSuppression(writer, accountId, address);
      if (entry === undefined) throw notFound(`suppressed address ${address}`);
      liftAccountSuppression(writer, entry);
      return viewAccounts(writer, entry);
    }
    const found = findSuppression(writer, address);
    if (found === undefined) throw notFound(`suppressed address ${address}`);
    removeSuppression(writer, found.address);
    return viewOperators(found);
  }, 'settle');
}

/** How mail to a recipient ended, as far as later mail to the address is concerned. */
export interface LearntOfRecipient {
  /** Whose message it was. */
  readonly accountId: AccountId;
  readonly recipient: string;
  readonly source: SuppressionSource;
  /** Enhanced status code (RFC 3463); null when there is none. */
  readonly status: string | null;
  /** What the server said, in one line. */
  readonly diagnostic: string | null;
  readonly at: number;
}

/**
 * Suppresses a recipient for the account that wrote to it, when what was learnt says that there is no such address, or
 * that it wants no mail. Anything else leaves it as it is: a full mailbox, a route or a policy may be another tomorrow.
 */
export function learnOfRecipient(writer: Writer, learnt: LearntOfRecipient): void {
  const { accountId, recipient, source, status, diagnostic, at } = learnt;
  const isComplaint = source === 'complaint';
  if (!isComplaint && (status === null || !saysNoSuchAddress(status))) return;
  const why = isComplaint ? 'the recipient calls the mail abuse' : `${status}`;
  const reason = diagnostic === null ? why : `${why}: ${diagnostic}`;
  learnSuppression(writer, { accountId, address: recipient, source, reason, learntAt: at });
}

export interface SuppressionView {
  readonly address: string;
  /** Whose agents may not send there; null: nobody's may. */
  readonly account_id: AccountId | null;
  readonly email: string | null;
  readonly source: 'operator' | SuppressionSource;
  readonly reason: string | null;
  readonly created_at: string;
  /** When it lapses; null: never. */
  readonly until: string | null;
}

export interface SuppressionPage {
  readonly suppressions: readonly SuppressionView[];
  /** Where the list goes on; null at its end. */
  readonly next_cursor: string | null;
}

/** An entry of the list: the operator's come first, then those of each account. */
type Entry = SuppressionRecord | AccountSuppression;

/** Where an entry stands in the list. */
interface Position {
  readonly accountId: AccountId | null;
  readonly address: string;
}

/** What is suppressed: for all, by address; then for single accounts, by account and address. */
export function listSuppressions(
  deps: { store: Store },
  input: PageInput & {
    /** Only the entries of this account. */
    readonly accountId?: AccountId | null;
  },
): SuppressionPage {
  const { accountId = null } = input;
  return deps.store.read(reader => {
    const { items, next_cursor } = page<Entry, Position>(
      positionsIn(accountId),
      input,
      (after, limit) => scanEntries(reader, accountId, after, limit),
      entry => ({ accountId: 'accountId' in entry ? entry.accountId : null, address: entry.address }),
    );
    const suppressions = items.map(entry =>
      'accountId' in entry ? viewAccounts(reader, entry) : viewOperators(entry),
    );
    return { suppressions, next_cursor };
  });
}

function scanEntries(
  reader: Reader,
  accountId: AccountId | null,
  after: Position | null,
  limit: number,
): readonly Entry[] {
  const isAmongAccounts = accountId !== null || (after !== null && after.accountId !== null);
  const operators = isAmongAccounts ? [] : scanSuppressions(reader, after?.address ?? null, limit);
  if (operators.length >= limit) return operators;
  const behind: AccountAddress | null =
    after === null || after.accountId === null
      ? null
      : { accountId: after.accountId, address: after.address };
  const left = limit - operators.length;
  return [...operators, ...scanAccountSuppressions(reader, accountId, behind, left)];
}

/**
 * Only admins see this list: a cursor is the address, behind the id of the account whose entry it is.
 * @param onlyOf the account whose entries alone are listed
 */
function positionsIn(onlyOf: AccountId | null): Cursors<Position> {
  return {
    write: ({ accountId, address }) => (accountId === null ? address : `${accountId}:${address}`),
    read: cursor => {
      const [, id, address = ''] = /^(?:([^:]*):)?(.*)$/s.exec(cursor) ?? [];
      const accountId = id === undefined ? null : toId<AccountId>(id);
      const isHere = onlyOf === null ? id === undefined || accountId !== null : accountId === onlyOf;
      return isHere && toSuppressedAddress(address) === address ? { accountId, address } : null;
    },
  };
}

function viewOperators({ address, reason, createdAt }: SuppressionRecord): SuppressionView {
  return {
    address,
    account_id: null,
    email: null,
    source: 'operator',
    reason,
    created_at: toInstant(createdAt),
    until: null,
  };
}

function viewAccounts(reader: Reader, entry: AccountSuppression): SuppressionView {
  const { address, accountId, source, reason, learntAt, until } = entry;
  return {
    address,
    account_id: accountId,
    email: getAccount(reader, accountId)?.email ?? null,
    source,
    reason,
    created_at: toInstant(learntAt),
    until: toInstant(until),
  };
}
