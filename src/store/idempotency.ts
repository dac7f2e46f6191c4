import type { AccountId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import { joinKey, text, u8 } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, type Table } from './table.js';

/** Key namespaces (wire contract 3.0): account-wide, each apart from the others. */
export type KeyNamespace = 'inbox' | 'draft' | 'send';

const NAMESPACE_BYTE: Record<KeyNamespace, number> = { inbox: 1, draft: 2, send: 3 };

export interface IdempotencyKey {
  readonly accountId: AccountId;
  readonly namespace: KeyNamespace;
  /** 1 to 128 characters of `A-Za-z0-9_-`. */
  readonly key: string;
}

export interface IdempotencyRecord {
  /** Digest of the normalised input that the key was first used with. */
  readonly intent: string;
  /** Id of the resource that came of it. */
  readonly resultId: string;
  readonly expiresAt: number;
}

export const idempotencyTable: Table<IdempotencyKey, IdempotencyRecord> = {
  name: 'idempotency',
  encodeKey: key => joinKey(idToBytes(key.accountId), u8(NAMESPACE_BYTE[key.namespace]), text(key.key)),
  ...jsonValue<IdempotencyRecord>(1),
};

/** The record of a key that is still protected at `nowMs`; an expired key acts as if it had never been used. */
export function findActiveKey(
  reader: Reader,
  key: IdempotencyKey,
  nowMs: number,
): IdempotencyRecord | undefined {
  const record = reader.get(idempotencyTable, key);
  return record !== undefined && record.expiresAt > nowMs ? record : undefined;
}

export function putKey(writer: Writer, key: IdempotencyKey, record: IdempotencyRecord): void {
  writer.put(idempotencyTable, key, record);
}

/** Forgets a key whose protection has ended; keeps one that was used again since. */
export function removeExpiredKey(writer: Writer, key: IdempotencyKey, nowMs: number): void {
  const record = writer.get(idempotencyTable, key);
  if (record !== undefined && record.expiresAt <= nowMs) writer.remove(idempotencyTable, key);
}
