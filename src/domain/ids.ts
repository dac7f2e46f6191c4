import { randomFillSync } from 'node:crypto';

declare const brand: unique symbol;

/**
 * The id of a resource: a UUID version 7 (RFC 9562 section 5.7) in lower case. Ids sort by creation time, as text and as
 * the 16 bytes that the store uses in keys. `Kind` keeps ids of different resources apart in the type checker.
 */
export type Id<Kind extends string> = string & { readonly [brand]: Kind };

export type AccountId = Id<'account'>;
export type KeyId = Id<'key'>;
export type InboxId = Id<'inbox'>;
export type MessageId = Id<'message'>;
export type BlobId = Id<'blob'>;
export type ThreadId = Id<'thread'>;
export type DraftId = Id<'draft'>;
export type ApprovalId = Id<'approval'>;
export type AuditId = Id<'audit'>;
export type FeedbackId = Id<'feedback'>;

const UUID = /^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/;

/** True for the canonical lowercase form of a UUID, whatever its version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Checks an id from outside; null when it cannot be the id of anything. */
export function toId<T extends Id<string>>(text: string): T | null {
  return isUuid(text) ? (text as T) : null;
}

const pool = Buffer.alloc(4096);
let poolAt = pool.length;
let lastMs = 0;
let counter = 0;

/**
 * A new id for the time `nowMs` (milliseconds since the epoch). Each id of a process is greater than the one
 * before: within a millisecond, or when the clock is set back, a 12-bit counter goes on (RFC 9562 section 6.2,
 * method 1), until `takeIdsBack` is called.
 */
export function newId<T extends Id<string>>(nowMs: number): T {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMs += 1;
    counter = 0;
  }
  if (poolAt + 8 > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const sequence = (0x7000 | counter).toString(16);
  const variant = ((pool.readUInt16BE(poolAt) & 0x3fff) | 0x8000).toString(16);
  const tail = pool.toString('hex', poolAt + 2, poolAt + 8);
  poolAt += 8;
  return `${time.slice(0, 8)}-${time.slice(8)}-${sequence}-${variant}-${tail}` as T;
}

/** The clock was wrong and has been set back: new ids go by it, and not on from the time that it had. */
export function takeIdsBack(): void {
  lastMs = 0;
}

/** Position in an id of the two digits of each byte. */
const DIGITS_AT = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;

/** The 16 bytes of an id. Every store key begins with one, and this takes a fifth of the time of Node's hex decoder. */
export function idToBytes(id: string): Buffer {
  const bytes = Buffer.allocUnsafe(DIGITS_AT.length);
  let index = 0;
  for (const at of DIGITS_AT) bytes[index++] = (digitAt(id, at) << 4) | digitAt(id, at + 1);
  return bytes;
}

/** The value of a hexadecimal digit: `0` is 0x30, `a` 0x61. */
function digitAt(id: string, at: number): number {
  const code = id.charCodeAt(at);
  return code < 0x40 ? code - 0x30 : (code & 0xf) + 9;
}

/** When the id that these bytes begin with was made, in milliseconds since the epoch. */
export function instantOfId(bytes: Pick<Buffer, 'readUIntBE'>): number {
  return bytes.readUIntBE(0, 6);
}

/** The id that the 16 bytes at `offset` stand for. */
export function idFromBytes<T extends Id<string>>(bytes: Pick<Buffer, 'toString'>, offset = 0): T {
  const hex = bytes.toString('hex', offset, offset + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as T;
}
