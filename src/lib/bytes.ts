/**
 * ASCII bytes with a meaning in mail; UTF-16 units have the same numbers. A file with a loop over bytes copies those
 * it needs, `const { CR, LF } = BYTE;`. Such a constant is compiled into the loop; an imported name is looked up for
 * each byte, which takes a third longer.
 */
export const BYTE = {
  NUL: 0x00,
  TAB: 0x09,
  LF: 0x0a,
  CR: 0x0d,
  SPACE: 0x20,
  DOT: 0x2e,
  COLON: 0x3a,
  EQUALS: 0x3d,
  TILDE: 0x7e,
  DELETE: 0x7f,
} as const;

/** The same bytes with the methods of a Buffer; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Where to cut UTF-8 text so that at most `maxBytes` are left and no character is split.
 * @returns the length when it fits, else `maxBytes` or up to three bytes less
 */
export function utf8End(bytes: Uint8Array, maxBytes: number): number {
  if (bytes.length <= maxBytes) return bytes.length;
  let end = maxBytes;
  // Continuation bytes are 10xxxxxx (RFC 3629 section 3).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
