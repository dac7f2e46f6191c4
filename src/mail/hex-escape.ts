/** The value of a hexadecimal digit in either case, or -1. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The byte that the two hexadecimal digits at `at` stand for, or -1 when there are none. */
export function hexByte(data: Uint8Array, at: number): number {
  const high = hexDigit(data[at]);
  const low = hexDigit(data[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/**
 * Replaces each `marker` with two hexadecimal digits behind it by the byte they stand for; an invalid escape
 * stays as it is. `=` marks the "Q" encoding (RFC 2047 section 4.2), `%` parameter values (RFC 2231 section 4).
 */
export function decodeHexEscapes(source: Uint8Array, marker: '=' | '%'): Buffer {
  const markerByte = marker.charCodeAt(0);
  const out = Buffer.allocUnsafe(source.length);
  let length = 0;
  for (let i = 0; i < source.length; i++) {
    const byte = source[i] ?? 0;
    const escaped = byte === markerByte ? hexByte(source, i + 1) : -1;
    out[length++] = escaped < 0 ? byte : escaped;
    if (escaped >= 0) i += 2;
  }
  return out.subarray(0, length);
}
