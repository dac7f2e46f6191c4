/**
 * Bytes of ASCII that mean something in mail, by their names; the units of UTF-16 have the same numbers. A loop over bytes takes the ones it needs at the top
 * of its file, `const { CR, LF } = BYTE;`: such a constant is compiled into the loop, while an imported name is
 * looked up for each byte, and the loop takes a third longer.
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

/**
 * Where to cut text in UTF-8 so that at most `maxBytes` of it are left and no character is torn: at its end where it
 * fits, else at `maxBytes` or up to three bytes before.
 */
export function utf8End(bytes: Uint8Array, maxBytes: number): number {
  if (bytes.length <= maxBytes) return bytes.length;
  let end = maxBytes;
  // Continuation bytes are 10xxxxxx (RFC 3629 section 3).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
