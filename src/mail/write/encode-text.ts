import { BYTE } from '../../lib/bytes.js';

const { TAB, LF, CR, SPACE, DOT, EQUALS, TILDE } = BYTE;

const CRLF = Buffer.from('\r\n');

/** A body as it is transmitted. */
export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  readonly body: Buffer;
}

/** What is worked on at once: some milliseconds at most, even of empty lines. A multiple of 57, the bytes that a line of base64 holds. */
const PIECE_BYTES = 57 * 1024;

/**
 * Encodes text in UTF-8 as a body (RFC 2045 section 6). CR, LF and CRLF all count as line ends, and the last line gets
 * one too. Text that no relay changes is sent in 7bit. Other text is sent in quoted-printable, which people can read, or
 * in base64 where quoted-printable would be longer.
 * It yields between steps that take long of megabytes.
 * @param delimiter text that ends a part: a body that contains it is not sent in 7bit
 */
export function* encodeText(text: string, delimiter: string): Generator<void, EncodedText> {
  const lines = yield* withLineEnds(Buffer.from(text));
  if (yield* passesUnchanged(lines, delimiter)) return { encoding: '7bit', body: lines };
  let escapes = 0;
  for (const piece of piecesOf(lines)) {
    escapes += escapesIn(piece);
    yield;
  }
  return lines.length + 2 * escapes <= base64Length(lines.length) + CRLF.length
    ? { encoding: 'quoted-printable', body: yield* encodeQuotedPrintable(lines) }
    : { encoding: 'base64', body: Buffer.concat([yield* encodeBase64(lines), CRLF]) };
}

/** Makes every line end CRLF, and ends the last line unless there is no text. */
function* withLineEnds(bytes: Buffer): Generator<void, Buffer> {
  const pieces: Buffer[] = [];
  for (const piece of piecesOf(bytes)) {
    pieces.push(Buffer.from(piece.toString('latin1').replace(/\r\n?|\n/g, '\r\n'), 'latin1'));
    yield;
  }
  const isEnded = pieces.at(-1)?.at(-1) === LF || bytes.length === 0;
  return Buffer.concat(isEnded ? pieces : [...pieces, CRLF]);
}

function* passesUnchanged(lines: Buffer, delimiter: string): Generator<void, boolean> {
  for (const piece of piecesOf(lines)) {
    const text = piece.toString('latin1');
    if (CHANGED.test(text) || text.includes(delimiter)) return false;
    yield;
  }
  return true;
}

/**
 * What relays or mail files change, in text with CRLF line ends: characters other than printable ASCII and tabs, white
 * space before a line end, a line that is a single dot, begins with `From ` (RFC 2049 section 3), or has more than 78
 * characters (RFC 5322 section 2.1.1).
 */
const CHANGED = /[^\t\r\n -~]|[ \t]\r|^\.\r|^From |^.{79}/m;

/** Pieces of `PIECE_BYTES` at most, that end with a line where they can, and never between CR and LF. */
export function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    const isLast = at + piece.length === bytes.length;
    let length = isLast ? piece.length : piece.lastIndexOf(LF) + 1 || piece.length;
    if (piece[length - 1] === CR && bytes[at + length] === LF) length--;
    yield piece.subarray(0, length);
    at += length;
  }
}

/** Characters of a line, the "=" of a soft line break included (RFC 2045 section 6.7 rule 5). */
const LINE = 76;
const HEX = Buffer.from('0123456789ABCDEF');

/** Bytes that take three octets in quoted-printable, wherever they are. */
function escapesIn(text: Buffer): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const byte = text[i] ?? 0;
    const isLiteral = (byte >= SPACE && byte <= TILDE && byte !== EQUALS) || byte === CR || byte === LF;
    if (!isLiteral && byte !== TAB) count++;
  }
  return count;
}

/**
 * Text with CRLF line ends in quoted-printable (RFC 2045 section 6.7). The library's own encoder takes ten times as long
 * and lets lines begin with `From `, which mail files alter, or a dot, which old relays lost.
 */
function* encodeQuotedPrintable(text: Buffer): Generator<void, Buffer> {
  const encoded: Buffer[] = [];
  // A byte takes three octets at most, and each line has 25 escapes at least.
  const out = Buffer.allocUnsafe(4 * Math.min(text.length, PIECE_BYTES) + LINE);
  for (const piece of piecesOf(text)) {
    encoded.push(Buffer.from(out.subarray(0, quote(piece, out))));
    yield;
  }
  return Buffer.concat(encoded);
}

/** Writes a piece of text in quoted-printable to `out`, with a soft line break where the piece does not end a line. */
function quote(text: Buffer, out: Buffer): number {
  let length = 0;
  let column = 0;
  const breakSoftly = (): void => {
    out[length++] = EQUALS;
    out[length++] = CR;
    out[length++] = LF;
    column = 0;
  };
  for (let i = 0; i < text.length; i++) {
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
    if (column + (isPlain ? 1 : 3) > (isLast ? LINE : LINE - 1)) breakSoftly();
    if (column === 0 && (byte === DOT || text.subarray(i, i + FROM.length).equals(FROM))) isPlain = false;
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
  if (column > 0) breakSoftly();
  return length;
}

const FROM = Buffer.from('From ');

function isPlainByte(byte: number, isLast: boolean): boolean {
  if (byte === SPACE || byte === TAB) return !isLast;
  return byte > SPACE && byte <= TILDE && byte !== EQUALS;
}

/** Octets that `byteCount` bytes take in lines of base64. */
const base64Length = (byteCount: number): number => {
  const digits = Math.ceil(byteCount / 3) * 4;
  return digits + Math.max(0, Math.ceil(digits / LINE) - 1) * 2;
};

/**
 * Bytes in lines of base64, without the end of the last line. It yields between steps. The digits of a piece are written
 * at the end of its space, and then each line is moved to its place: much faster than line by line.
 */
export function* encodeBase64(bytes: Buffer): Generator<void, Buffer> {
  const out = Buffer.allocUnsafe(base64Length(bytes.length));
  let to = 0;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) to += CRLF.copy(out, to);
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    const end = to + base64Length(piece.length);
    for (
      let from = end - out.write(piece.toString('base64'), end - 4 * Math.ceil(piece.length / 3), 'latin1');
      from < end;
    ) {
      const lineEnd = Math.min(from + LINE, end);
      out.copyWithin(to, from, lineEnd);
      to += lineEnd - from;
      from = lineEnd;
      if (from < end) to += CRLF.copy(out, to);
    }
    yield;
  }
  return out;
}

/** What needs an encoding: all but ASCII without NUL, in lines of at most 998 octets that end in CRLF. */
const UNTRANSMITTABLE = /[\0\x80-\xff]|\r(?!\n)|(?<!\r)\n|^[^\r\n]{999}/m;

/** True for bytes that need no encoding (RFC 2045 section 2.7). It yields between steps. */
export function* isTransmittable(bytes: Buffer): Generator<void, boolean> {
  for (const piece of piecesOf(bytes)) {
    if (UNTRANSMITTABLE.test(piece.toString('latin1'))) return false;
    yield;
  }
  return true;
}
