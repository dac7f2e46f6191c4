import { refuse } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import type { Reader } from '../../store/engine/tables.js';
import { type AccountRecord, getAccount } from '../../store/records/accounts.js';
import { RECORD_BYTES, storedBytes } from '../../store/records/storage.js';

/** What accounts may store for which nothing else was granted, in MiB: the configuration key `limits.storage_mib`. */
export interface StorageLimits {
  readonly storageMib: number;
}

export const MIB = 2 ** 20;

/** MiB that an account may store. */
export function storageLimitOf(account: AccountRecord, limits: StorageLimits): number {
  return account.storageLimitMib ?? limits.storageMib;
}

/** Bytes that an account stores and may store; null when there is no such account. */
export function storageOf(
  reader: Reader,
  limits: StorageLimits,
  accountId: AccountId,
): { readonly used: number; readonly limit: number } | null {
  const account = getAccount(reader, accountId);
  if (account === undefined) return null;
  return { used: storedBytes(reader, accountId), limit: storageLimitOf(account, limits) * MIB };
}

/**
 * Refuses to store more for an account than it may.
 * @param bytes what is to be stored, without its entries in tables
 * @throws `storage_limit_reached`
 */
export function checkStorage(
  reader: Reader,
  limits: StorageLimits,
  accountId: AccountId,
  bytes: number,
): void {
  const storage = storageOf(reader, limits, accountId);
  if (storage === null || storage.used + RECORD_BYTES + bytes <= storage.limit) return;
  const { used, limit } = storage;
  throw refuse(
    'storage_limit_reached',
    `The account stores ${(used / MIB).toFixed(1)} of ${limit / MIB} MiB; nothing was saved or sent. Delete messages or drafts for good (Trash counts), or ask the operator for more.`,
  );
}
