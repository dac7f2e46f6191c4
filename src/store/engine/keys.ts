/**
 * Ordered binary keys. A key is a concatenation of fixed-width parts, big-endian so that bytes sort as
 * numbers do, with at most one text part, which stands last. LMDB takes keys up to 1,978 bytes; whatever
 * is not bounded is hashed by its caller first.
 */

/** The largest number of `u48`: behind all sequence numbers and instants. */
export const MAX_U48 = 2 ** 48 - 1;

/** One byte, 0 to 255; not to be written to. */
export function u8(value: number): Buffer {
  return SINGLE_BYTES[value] ?? Buffer.of(value);
}

const SINGLE_BYTES = Array.from({ length: 256 }, (_, value) => Buffer.of(value));

/** Four bytes, 0 to 2^32 - 1. */
export function u32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Six bytes, 0 to 2^48 - 1: instants in milliseconds and sequence numbers. */
export function u48(value: number): Buffer {
  if (!Number.isInteger(value) || value < 0 || value > MAX_U48) {
    throw new RangeError(`not a 48-bit unsigned integer: ${value}`);
  }
  const bytes = Buffer.allocUnsafe(6);
  bytes.writeUInt16BE(Math.floor(value / 2 ** 32), 0);
  bytes.writeUInt32BE(value % 2 ** 32, 2);
  return bytes;
}

/** UTF-8 text; the last part of a key. */
export function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

/** Byte by byte: parts are short, and `Buffer.concat` takes twice the time. */
export function joinKey(...parts: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const key = Buffer.allocUnsafe(length);
  let end = 0;
  for (const part of parts) for (let at = 0; at < part.length; at++) key[end++] = part[at] ?? 0;
  return key;
}

/** Keys from `from` on, up to but not including `to`, in the order of bytes. */
export interface KeyRange {
  readonly from: Buffer;
  readonly to: Buffer;
}

/** The prefix of every key of a table. */
export const WHOLE_TABLE = Buffer.alloc(0);

/** Keys have a byte at least, so this is the first of all. */
const FIRST = Buffer.alloc(1);
/** Later than every key: none begins with so many of these bytes. */
const END = Buffer.alloc(64, 0xff);

/**
 * The keys that begin with `prefix`, of these only the ones that come after the key `after` and before the key
 * `before`, where they are given. A list that goes on where its last page ended passes the last key of that page:
 * as `after`, or as `before` when it goes backwards.
 */
export function range(prefix: Buffer, after: Buffer | null = null, before: Buffer | null = null): KeyRange {
  return { from: after === null ? firstOf(prefix) : nextKey(after), to: before ?? prefixEnd(prefix) };
}

function firstOf(prefix: Buffer): Buffer {
  return prefix.length === 0 ? FIRST : prefix;
}

/** The smallest key that is greater than this one. */
function nextKey(key: Buffer): Buffer {
  return joinKey(key, u8(0));
}

/** The smallest key greater than every key that starts with `prefix`. */
function prefixEnd(prefix: Buffer): Buffer {
  for (let length = prefix.length; length > 0; length--) {
    const last = prefix[length - 1];
    if (last !== undefined && last < 0xff) {
      const end = Buffer.from(prefix.subarray(0, length));
      end[length - 1] = last + 1;
      return end;
    }
  }
  return END;
}
