/**
 * Writing DER (X.690), as little of it as a certificate request and a certificate need. Nothing is read here: requests
 * and certificates of others are read by `node:crypto`.
 */

const LONGEST = 0xffffff;

/** A value with its tag and its length (X.690 section 8.1). */
export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length > LONGEST) throw new Error(`${length} bytes are more than a request may have`);
  const bytes = Buffer.alloc(3);
  bytes.writeUIntBE(length, 0, 3);
  const significant = bytes.subarray(bytes.findIndex(byte => byte !== 0));
  return Buffer.concat([Buffer.from([0x80 | significant.length]), significant]);
}

export function sequence(...members: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...members);
}

export function set(...members: readonly Uint8Array[]): Buffer {
  return tagged(0x31, ...members);
}

/** A value in a constructed context-specific tag. */
export function explicit(number: number, ...members: readonly Uint8Array[]): Buffer {
  return tagged(0xa0 | number, ...members);
}

/** A whole number that is not negative, of big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0;
  return tagged(0x02, isNegative ? Buffer.from([0]) : Buffer.alloc(0), bytes);
}

export function octetString(bytes: Uint8Array): Buffer {
  return tagged(0x04, bytes);
}

/** A bit string of whole bytes. */
export function bitString(bytes: Uint8Array): Buffer {
  return tagged(0x03, Buffer.from([0]), bytes);
}

export function utf8String(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text, 'utf8'));
}

/** A time before 2050, to the second (RFC 5280 section 4.1.2.5.1). */
export function utcTime(instant: Date): Buffer {
  const digits = instant.toISOString().replace(/\D/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`, 'ascii'));
}

/** An object identifier in dotted form. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const digits = [arc & 0x7f];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
    digits.unshift((left & 0x7f) | 0x80);
  }
  return digits;
}
