import { type AccountId, idFromBytes, idToBytes, type MessageId } from '../../domain/ids.js';
import { type Charge, expiryOf, windowStart } from '../../domain/quota.js';
import { joinKey, MAX_U48, range, u48, WHOLE_TABLE } from '../engine/keys.js';
import type { Store } from '../engine/store.js';
import { bytesKey, jsonValue, type Reader, type Table, type Writer, walkTable } from '../engine/tables.js';
import { addPending, removePending } from './pending.js';

/**
 * Charges against sending allowances: one a submission, by account and instant. Their sum is stored; what counts now is
 * that sum minus the few charges that have expired and are not swept yet.
 */
export const chargesTable: Table<Buffer, number> = {
  name: 'charges',
  encodeKey: bytesKey,
  ...jsonValue<number>(1),
};

export interface ChargeSum {
  /** Of all charges of the account that are in the table. */
  readonly sum: number;
  /** The due instant of its entry in the pending index, at which the sweeper looks for what has expired. */
  readonly sweepDueAt: number;
}

/** Accounts that have charges, or had some until lately. */
export const chargeSumsTable: Table<AccountId, ChargeSum> = {
  name: 'charge_sums',
  encodeKey: idToBytes,
  ...jsonValue<ChargeSum>(1),
};

export interface ChargeKey {
  readonly accountId: AccountId;
  readonly at: number;
  /** Of the sent message. */
  readonly id: MessageId;
}

function chargeKey({ accountId, at, id }: ChargeKey): Buffer {
  return joinKey(idToBytes(accountId), u48(at), idToBytes(id));
}

const AFTER_ACCOUNT = 16;
/** Charges that one scan reads: few at first, because the first is mostly enough. */
const PAGES = { first: 4, longest: 500 };

export function addCharge(writer: Writer, key: ChargeKey, amount: number): void {
  writer.put(chargesTable, chargeKey(key), amount);
  const before = writer.get(chargeSumsTable, key.accountId);
  const sweepDueAt = before?.sweepDueAt ?? expiryOf(key.at);
  if (before === undefined) addPending(writer, sweepDueAt, { kind: 'expire-charges', id: key.accountId });
  writer.put(chargeSumsTable, key.accountId, { sum: (before?.sum ?? 0) + amount, sweepDueAt });
}

/** Takes a charge back (a rejected submission); one that has expired is gone already. */
export function releaseCharge(writer: Writer, charge: ChargeKey): void {
  const made = chargeKey(charge);
  const key = writer.has(chargesTable, made) ? made : redatedKey(writer, charge);
  const amount = key === undefined ? undefined : writer.get(chargesTable, key);
  if (key === undefined || amount === undefined) return;
  writer.remove(chargesTable, key);
  reduceSum(writer, charge.accountId, amount);
}

/** Of a charge that `redateCharges` has moved: it is of another instant than the message, but of the same id. */
function redatedKey(reader: Reader, { accountId, id }: ChargeKey): Buffer | undefined {
  const suffix = idToBytes(id);
  for (const { key } of walkCharges(reader, accountId, 0, MAX_U48)) {
    if (key.subarray(AFTER_ACCOUNT + 6).equals(suffix)) return key;
  }
  return undefined;
}

/** Has the account charges that were made after `lastMs`? */
export function hasChargeAfter(reader: Reader, accountId: AccountId, lastMs: number): boolean {
  return !walkCharges(reader, accountId, lastMs + 1, MAX_U48).next().done;
}

/** Makes charges from after `lastMs` count from `nowMs` on, `limit` of them at most: the clock was ahead. */
export function redateCharges(
  writer: Writer,
  accountId: AccountId,
  { lastMs, nowMs, limit }: { readonly lastMs: number; readonly nowMs: number; readonly limit: number },
): void {
  const ahead = [...walkCharges(writer, accountId, lastMs + 1, MAX_U48, limit)];
  for (const { key, amount } of ahead) {
    writer.remove(chargesTable, key);
    writer.put(
      chargesTable,
      joinKey(idToBytes(accountId), u48(nowMs), key.subarray(AFTER_ACCOUNT + 6)),
      amount,
    );
  }
  const sum = writer.get(chargeSumsTable, accountId);
  if (sum === undefined || sum.sweepDueAt <= expiryOf(nowMs)) return;
  removePending(writer, { kind: 'expire-charges', dueAt: sum.sweepDueAt, id: accountId });
  addPending(writer, expiryOf(nowMs), { kind: 'expire-charges', id: accountId });
  writer.put(chargeSumsTable, accountId, { ...sum, sweepDueAt: expiryOf(nowMs) });
}

/** Accounts that have charges, page by page; each page is its own short read. */
export function* accountsWithCharges(store: Store, limit: number): Generator<readonly AccountId[], void> {
  for (let after: Buffer | undefined; ; ) {
    const rest = { ...range(WHOLE_TABLE, after), limit };
    const keys = store.read(reader => reader.scanKeys(chargeSumsTable, rest));
    yield keys.map(key => idFromBytes<AccountId>(key));
    if (keys.length < limit) return;
    after = keys.at(-1);
  }
}

function reduceSum(writer: Writer, accountId: AccountId, amount: number): void {
  const before = writer.get(chargeSumsTable, accountId);
  if (before !== undefined) writer.put(chargeSumsTable, accountId, { ...before, sum: before.sum - amount });
}

/** What counts against the allowance of an account at `nowMs`. */
export function usedAllowance(reader: Reader, accountId: AccountId, nowMs: number): number {
  let used = reader.get(chargeSumsTable, accountId)?.sum ?? 0;
  if (used === 0) return 0;
  for (const { amount } of walkCharges(reader, accountId, 0, windowStart(nowMs) + 1)) used -= amount;
  return used;
}

/** Charges that count at `nowMs`, oldest first, looked up as they are asked for. */
export function activeCharges(reader: Reader, accountId: AccountId, nowMs: number): Iterable<Charge> {
  return walkCharges(reader, accountId, Math.max(0, windowStart(nowMs) + 1), MAX_U48);
}

/** Charges made from `from` up to but not including `to`. */
function* walkCharges(
  reader: Reader,
  accountId: AccountId,
  from: number,
  to: number,
  limit = Number.POSITIVE_INFINITY,
): Generator<Charge & { readonly key: Buffer }> {
  const prefix = idToBytes(accountId);
  const charges = { from: joinKey(prefix, u48(from)), to: joinKey(prefix, u48(to)) };
  let left = limit;
  for (const { key, value } of walkTable(reader, chargesTable, charges, PAGES)) {
    if (left-- <= 0) return;
    yield { key, at: key.readUIntBE(AFTER_ACCOUNT, 6), amount: value };
  }
}

/**
 * Forgets charges of an account that have expired, `limit` at most. As long as it has others, its pending entry
 * goes on to the next instant; the caller removes the one that was due, before.
 * @returns how many it forgot
 */
export function forgetExpiredCharges(
  writer: Writer,
  accountId: AccountId,
  nowMs: number,
  limit: number,
): number {
  let removed = 0;
  for (const { key, at, amount } of walkCharges(writer, accountId, 0, MAX_U48)) {
    if (at > windowStart(nowMs) || removed === limit) {
      const sum = writer.get(chargeSumsTable, accountId)?.sum ?? 0;
      writer.put(chargeSumsTable, accountId, { sum, sweepDueAt: expiryOf(at) });
      addPending(writer, expiryOf(at), { kind: 'expire-charges', id: accountId });
      return removed;
    }
    writer.remove(chargesTable, key);
    reduceSum(writer, accountId, amount);
    removed += 1;
  }
  writer.remove(chargeSumsTable, accountId);
  return removed;
}
