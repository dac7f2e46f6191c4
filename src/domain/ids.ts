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
export type DeliveryId = Id<'delivery'>;
export type ApprovalId = Id<'approval'>;
export type AuditId = Id<'audit'>;
export type FeedbackId = Id<'feedback'>;
export type SuppressionId = Id<'suppression'>;
export type UploadId = Id<'upload'>;
export type EventId = Id<'event'>;
export type WebhookId = Id<'webhook'>;

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
/** The digits of `lastMs`, as ids begin. */
let lastTime = '';

/**
 * A new id for the time `nowMs` (milliseconds since the epoch). Each id of a process is greater than the one
 * before: within a millisecond, or when the clock is set back, a 12-bit counter goes on (RFC 9562 section 6.2,
 * method 1), until `takeIdsBack` is called.
 */
export function newId<T extends Id<string>>(nowMs: number): T {
  if (nowMs > lastMs) startAt(nowMs);
  else if (++counter > 0xfff) startAt(lastMs + 1);
  if (poolAt + 8 > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const sequence = (0x7000 | counter).toString(16);
  const variant = ((pool.readUInt16BE(poolAt) & 0x3fff) | 0x8000).toString(16);
  const tail = pool.toString('hex', poolAt + 2, poolAt + 8);
  poolAt += 8;
  return `${lastTime}-${sequence}-${variant}-${tail}` as T;
}

function startAt(ms: number): void {
  const digits = ms.toString(16).padStart(12, '0');
  lastMs = ms;
  lastTime = `${digits.slice(0, 8)}-${digits.slice(8)}`;
  counter = 0;
}

/** The clock was wrong and has been set back: new ids go by it, and not on from the time that it had. */
export function takeIdsBack(): void {
  lastMs = 0;
}

/** Position in an id of the two digits of each byte. */
const DIGITS_AT = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;

/** The bytes of ids that were asked for lately: one message asks for its own and that of its inbox fifty times. */
const KNOWN = 64;
const knownIds: string[] = new Array(KNOWN).fill('');
const knownBytes: Buffer[] = new Array(KNOWN).fill(Buffer.alloc(0));

/** The 16 bytes of an id, not to be changed. Every store key begins with one. */
export function idToBytes(id: string): Buffer {
  // Digits of the sequence and of the random part.
  const place = ((id.charCodeAt(17) << 1) ^ id.charCodeAt(34) ^ (id.charCodeAt(35) << 2)) & (KNOWN - 1);
  if (knownIds[place] === id) return knownBytes[place] as Buffer;
  const bytes = readDigits(id);
  knownIds[place] = id;
  knownBytes[place] = bytes;
  return bytes;
}

/** Takes a fifth of the time of Node's hex decoder. */
function readDigits(id: string): Buffer {
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
