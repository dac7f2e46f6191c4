import { isAscii } from 'node:buffer';
import { MAX_LINE_OCTETS } from '../../domain/message-parts.js';
import { BYTE } from '../../lib/bytes.js';

const { TAB, LF, CR, SPACE, DOT, DELETE, EQUALS, TILDE } = BYTE;

/** Characters of a line, its CRLF not counted (RFC 5322 section 2.1.1). */
const LONGEST_LINE = 78;

/** A body as it is transmitted. */
export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  readonly body: Buffer;
}

/**
 * Encodes text in UTF-8 as a body (RFC 2045 section 6). CR, LF and CRLF all count as line ends, and the last line gets
 * one too. Text that no relay changes is sent in 7bit. Other text is sent in quoted-printable or base64, whichever is
 * shorter; when they are equal, in quoted-printable, which people can read.
 * It yields between steps that take long of megabytes.
 * @param delimiter text that ends a part: a body that contains it is not sent in 7bit
 */
export function* encodeText(text: string, delimiter: string): Generator<void, EncodedText> {
  const bytes = Buffer.from(text, 'utf8');
  yield;
  const lines = yield* withLineEnds(bytes);
  yield;
  if (passesUnchanged(lines) && !lines.includes(delimiter)) return { encoding: '7bit', body: lines };
  yield;
  const length = base64Length(lines.length);
  const quoted = encodeQuotedPrintable(lines, length);
  if (quoted !== null) return { encoding: 'quoted-printable', body: quoted };
  yield;
  const body = Buffer.allocUnsafe(length);
  writeBase64(lines, body, 0);
  return { encoding: 'base64', body };
}

/** Makes every line end CRLF, and ends the last line unless there is no text. */
function* withLineEnds(bytes: Buffer): Generator<void, Buffer> {
  let added = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === LF && bytes[i - 1] !== CR) added++;
    else if (byte === CR && bytes[i + 1] !== LF) added++;
  }
  const last = bytes[bytes.length - 1];
  const isEnded = last === undefined || last === LF || last === CR;
  if (added === 0 && isEnded) return bytes;
  yield;
  const out = Buffer.allocUnsafe(bytes.length + added + (isEnded ? 0 : 2));
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte !== LF && byte !== CR) {
      out[length++] = byte;
      continue;
    }
    if (byte === CR && bytes[i + 1] === LF) i++;
    out[length++] = CR;
    out[length++] = LF;
  }
  if (!isEnded) {
    out[length++] = CR;
    out[length++] = LF;
  }
  return out;
}

/**
 * True for short lines of printable ASCII that no relay and no mbox file changes: no line ends in white space, is a
 * single dot, or begins with `From ` (RFC 2049 section 3).
 */
function passesUnchanged(lines: Buffer): boolean {
  if (!isAscii(lines)) return false;
  let start = 0;
  for (let i = 0; i < lines.length; i++) {
    const byte = lines[i] ?? 0;
    if (byte === CR) {
      const last = lines[i - 1];
      const isLoneDot = i - start === 1 && last === DOT;
      const endsInWhiteSpace = i > start && (last === SPACE || last === TAB);
      if (i - start > LONGEST_LINE || isLoneDot || endsInWhiteSpace || isFromLine(lines, start)) return false;
      start = i + 2;
      i++;
    } else if ((byte < SPACE && byte !== TAB) || byte === DELETE) {
      return false;
    }
  }
  return true;
}

/**
 * True for bytes that need no encoding (RFC 2045 section 2.7): ASCII without NUL, in lines of at most `MAX_LINE_OCTETS`
 * that end in CRLF.
 */
export function isTransmittable(bytes: Buffer): boolean {
  if (!isAscii(bytes) || bytes.includes(0)) return false;
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf(LF, start);
    const isEnded = lineFeed > start && bytes[lineFeed - 1] === CR;
    const end = lineFeed < 0 ? bytes.length : lineFeed - 1;
    if ((lineFeed >= 0 && !isEnded) || end - start > MAX_LINE_OCTETS) return false;
    const carriageReturn = bytes.subarray(start, end).indexOf(CR);
    if (carriageReturn >= 0) return false;
    start = lineFeed < 0 ? bytes.length : lineFeed + 1;
  }
  return true;
}

/** Characters of a line, the "=" of a soft line break included (RFC 2045 section 6.7 rule 5). */
const LINE = 76;
const HEX = Buffer.from('0123456789ABCDEF');

/**
 * Text with CRLF line ends in quoted-printable (RFC 2045 section 6.7); null when that takes more than `maxLength`
 * octets. No line ends in white space, or begins with `From ` (mbox files alter it) or a dot (old relays did).
 */
function encodeQuotedPrintable(text: Buffer, maxLength: number): Buffer | null {
  // Room for one step past the limit, after which the loop ends.
  const out = Buffer.allocUnsafe(maxLength + 6);
  let length = 0;
  let column = 0;
  for (let i = 0; i < text.length && length <= maxLength; i++) {
    const byte = text[i] ?? 0;
    // Fast path: a plain character inside a line, as nearly all of most texts is.
    if (column > 0 && column < LINE - 1 && byte > SPACE && byte <= TILDE && byte !== EQUALS) {
      out[length++] = byte;
      column++;
      continue;
    }
    if (byte === CR && text[i + 1] === LF) {
      out[length++] = CR;
      out[length++] = LF;
      column = 0;
      i++;
      continue;
    }
    const isLast = text[i + 1] === CR && text[i + 2] === LF;
    let isPlain = isPlainByte(byte, isLast || i + 1 === text.length);
    // All characters but the last of a line leave room for the "=" of a soft break.
    if (column + (isPlain ? 1 : 3) > (isLast ? LINE : LINE - 1)) {
      out[length++] = EQUALS;
      out[length++] = CR;
      out[length++] = LF;
      column = 0;
    }
    if (column === 0 && (byte === DOT || isFromLine(text, i))) isPlain = false;
    if (isPlain) {
      out[length++] = byte;
      column++;
    } else {
      out[length++] = EQUALS;
      out[length++] = HEX[byte >> 4] ?? 0;
      out[length++] = HEX[byte & 15] ?? 0;
      column += 3;
    }
  }
  return length <= maxLength ? out.subarray(0, length) : null;
}

function isPlainByte(byte: number, isLast: boolean): boolean {
  if (byte === SPACE || byte === TAB) return !isLast;
  return byte > SPACE && byte <= TILDE && byte !== EQUALS;
}

/** True where `From ` begins. */
function isFromLine(text: Buffer, at: number): boolean {
  return (
    text[at] === 0x46 &&
    text[at + 1] === 0x72 &&
    text[at + 2] === 0x6f &&
    text[at + 3] === 0x6d &&
    text[at + 4] === SPACE
  );
}

/** Octets that `byteCount` bytes take in base64, each line with its CRLF. */
export function base64Length(byteCount: number): number {
  const digits = Math.ceil(byteCount / 3) * 4;
  return digits + Math.ceil(digits / LINE) * 2;
}

/**
 * Writes bytes as lines of base64, each with its CRLF, into `out` at `at`.
 * All of it is encoded at once at the end of its space, and then each line is moved to its place: three to five times
 * as fast as encoding line by line.
 * @returns the position after the last line
 */
export function writeBase64(bytes: Uint8Array, out: Buffer, at: number): number {
  const end = at + base64Length(bytes.length);
  const digits = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  let from = end - digits.length;
  out.write(digits, from, 'latin1');
  let to = at;
  while (from < end) {
    const lineEnd = Math.min(from + LINE, end);
    out.copyWithin(to, from, lineEnd);
    to += lineEnd - from;
    from = lineEnd;
    out[to++] = CR;
    out[to++] = LF;
  }
  return end;
}
