/**
 * Ordered binary keys. A key is a concatenation of fixed-width parts, big-endian so that bytes sort as
 * numbers do, with at most one text part, which stands last. LMDB takes keys up to 1,978 bytes; whatever
 * is not bounded is hashed by its caller first.
 */

const MAX_U48 = 2 ** 48 - 1;

/** One byte, 0 to 255. */
export function u8(value: number): Buffer {
  return Buffer.of(value);
}

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
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}

/** UTF-8 text; the last part of a key. */
export function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

export function joinKey(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}

/** The smallest key greater than every key that starts with `prefix`; null when there is none. */
export function prefixEnd(prefix: Uint8Array): Buffer | null {
  for (let length = prefix.length; length > 0; length--) {
    const last = prefix[length - 1];
    if (last !== undefined && last < 0xff) {
      const end = Buffer.from(prefix.subarray(0, length));
      end[length - 1] = last + 1;
      return end;
    }
  }
  return null;
}
