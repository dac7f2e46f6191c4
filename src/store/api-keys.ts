import type { AccountId, KeyId } from '../domain/ids.js';
import { idFromBytes, idToBytes } from '../domain/ids.js';
import { joinKey, prefixEnd } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import { bytesKey, jsonValue, noValue, rawValue, type Table } from './table.js';

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
  const prefix = idToBytes(accountId);
  const to = prefixEnd(prefix) ?? Buffer.alloc(33, 0xff);
  return reader
    .scanKeys(accountKeysTable, { from: prefix, to, limit })
    .map(key => getKey(reader, idFromBytes<KeyId>(key, 16)))
    .filter(key => key !== undefined);
}
