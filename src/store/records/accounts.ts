import { type AccountId, idFromBytes, idToBytes, type KeyId } from '../../domain/ids.js';
import { joinKey, range, text, WHOLE_TABLE } from '../engine/keys.js';
import {
  bytesKey,
  jsonValue,
  noValue,
  type Reader,
  rawValue,
  type Table,
  type Writer,
} from '../engine/tables.js';

export interface AccountPermissions {
  readonly send: boolean;
  readonly delete: boolean;
  readonly restore: boolean;
}

export interface AccountRecord {
  readonly id: AccountId;
  /** As the admin wrote it; unique without regard to letter case. */
  readonly email: string;
  readonly createdAt: number;
  readonly permissions: AccountPermissions;
  /** Inbox cap of this account; null follows the configuration. */
  readonly inboxLimit: number | null;
  /** Recipient-deliveries in 24 hours; null follows the configuration. */
  readonly sendLimit: number | null;
  /** MiB that it may store; null or absent (in records of older stores) follows the configuration. */
  readonly storageLimitMib?: number | null;
  /** True for the one account that stands for the operator and owns the postmaster inbox. */
  readonly isOperator: boolean;
}

export const accountsTable: Table<AccountId, AccountRecord> = {
  name: 'accounts',
  encodeKey: idToBytes,
  ...jsonValue<AccountRecord>(1),
  decidesAccess: true,
};

/** Lower-case email address -> account. */
export const accountEmailsTable: Table<string, AccountId> = {
  name: 'account_emails',
  encodeKey: email => text(email.toLowerCase()),
  ...jsonValue<AccountId>(1),
};

export function getAccount(reader: Reader, id: AccountId): AccountRecord | undefined {
  return reader.get(accountsTable, id);
}

export function findAccountByEmail(reader: Reader, email: string): AccountRecord | undefined {
  const id = reader.get(accountEmailsTable, email);
  return id === undefined ? undefined : reader.get(accountsTable, id);
}

/**
 * Is this the email of an account, with or without a `+tag`? Mail to all of these would reach an inbox of the address.
 * @param address of an inbox: lower case, A-labels, without a `+tag`
 */
export function isAccountAddress(reader: Reader, address: string): boolean {
  if (reader.get(accountEmailsTable, address) !== undefined) return true;
  const [localPart = '', domain = ''] = address.split('@');
  const tagged = { ...range(text(`${localPart}+`)), limit: Number.MAX_SAFE_INTEGER };
  return reader.scanKeys(accountEmailsTable, tagged).some(key => key.toString().endsWith(`@${domain}`));
}

/** Writes a new account or a new version of one; the email of an account never changes. */
export function putAccount(writer: Writer, account: AccountRecord): void {
  writer.put(accountsTable, account.id, account);
  writer.put(accountEmailsTable, account.email, account.id);
}

/** Accounts by creation, at most `limit` after `after`. */
export function scanAccounts(reader: Reader, after: AccountId | null, limit: number): AccountRecord[] {
  const accounts = range(WHOLE_TABLE, after === null ? null : idToBytes(after));
  return reader.scan(accountsTable, { ...accounts, limit }).map(entry => entry.value);
}

/** An API key. The credential itself is never stored, only its SHA-256. */
export interface ApiKeyRecord {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly name: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** SHA-256 of the credential (32 bytes) -> key. */
export const apiKeysTable: Table<Buffer, ApiKeyRecord> = {
  name: 'api_keys',
  encodeKey: bytesKey,
  ...jsonValue<ApiKeyRecord>(1),
  decidesAccess: true,
};

/** Key id -> SHA-256 of the credential. */
export const apiKeyHashesTable: Table<KeyId, Buffer> = {
  name: 'api_key_hashes',
  encodeKey: idToBytes,
  ...rawValue,
};

/** [account, key]: the keys of an account. */
export const accountKeysTable: Table<Buffer, true> = {
  name: 'account_keys',
  encodeKey: bytesKey,
  ...noValue,
};

export function findKeyByHash(reader: Reader, hash: Buffer): ApiKeyRecord | undefined {
  return reader.get(apiKeysTable, hash);
}

export function getKey(reader: Reader, id: KeyId): ApiKeyRecord | undefined {
  const hash = reader.get(apiKeyHashesTable, id);
  return hash === undefined ? undefined : reader.get(apiKeysTable, hash);
}

export function putNewKey(writer: Writer, key: ApiKeyRecord, hash: Buffer): void {
  writer.put(apiKeysTable, hash, key);
  writer.put(apiKeyHashesTable, key.id, hash);
  writer.put(accountKeysTable, joinKey(idToBytes(key.accountId), idToBytes(key.id)), true);
}

/** Marks a key revoked; false when there is no such key. Keeps the first instant of revocation. */
export function revokeKey(writer: Writer, id: KeyId, nowMs: number): boolean {
  const hash = writer.get(apiKeyHashesTable, id);
  const key = hash === undefined ? undefined : writer.get(apiKeysTable, hash);
  if (hash === undefined || key === undefined) return false;
  if (key.revokedAt === null) writer.put(apiKeysTable, hash, { ...key, revokedAt: nowMs });
  return true;
}

/** The keys of an account by creation, revoked ones included. */
export function listKeys(reader: Reader, accountId: AccountId, limit: number): ApiKeyRecord[] {
  return reader
    .scanKeys(accountKeysTable, { ...range(idToBytes(accountId)), limit })
    .map(key => getKey(reader, idFromBytes<KeyId>(key, 16)))
    .filter(key => key !== undefined);
}
