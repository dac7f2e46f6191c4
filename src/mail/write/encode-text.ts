import * as base64 from 'nodemailer/lib/base64';
import * as qp from 'nodemailer/lib/qp';
import { BYTE } from '../../lib/bytes.js';

const CRLF = Buffer.from('\r\n');

/** A body as it is transmitted. */
export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  readonly body: Buffer;
}

/** What is worked on at once: some milliseconds at most, even of empty lines. A multiple of 57, the bytes that a line of base64 holds. */
const PIECE_BYTES = 57 * 256;

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
    escapes += piece.toString('latin1').replace(/[\t\r\n !-<>-~]+/g, '').length;
    yield;
  }
  const base64Length = 4 * Math.ceil(lines.length / 3) + 2 * Math.ceil(lines.length / 57);
  return lines.length + 2 * escapes <= base64Length
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
  const isEnded = pieces.at(-1)?.at(-1) === BYTE.LF || bytes.length === 0;
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
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    const isLast = at + piece.length === bytes.length;
    let length = isLast ? piece.length : piece.lastIndexOf(BYTE.LF) + 1 || piece.length;
    if (piece[length - 1] === BYTE.CR && bytes[at + length] === BYTE.LF) length--;
    yield piece.subarray(0, length);
    at += length;
  }
}

/** Three characters less than a line may have (RFC 2045 section 6.7): two for an escape at its start, one for its `=`. */
const QUOTED_LINE = 73;

/** What a line may not begin with in quoted-printable: mail files alter `From `, and old relays lost dots. */
const ESCAPES: Readonly<Record<string, string>> = { 'From ': '=46rom ', '.': '=2E' };

function* encodeQuotedPrintable(text: Buffer): Generator<void, Buffer> {
  const pieces: Buffer[] = [];
  for (const piece of piecesOf(text)) {
    const quoted = qp.wrap(qp.encode(piece), QUOTED_LINE);
    const isCut = piece[piece.length - 1] !== BYTE.LF;
    const lines = quoted.replace(/^(?:From |\.)/gm, start => ESCAPES[start] ?? start);
    pieces.push(Buffer.from(isCut ? `${lines}=\r\n` : lines, 'latin1'));
    yield;
  }
  return Buffer.concat(pieces);
}

/** Bytes in lines of base64, without the end of the last line. It yields between steps. */
export function* encodeBase64(bytes: Buffer): Generator<void, Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const lines = base64.wrap(base64.encode(bytes.subarray(at, at + PIECE_BYTES)));
    pieces.push(Buffer.from(at === 0 ? lines : `\r\n${lines}`, 'latin1'));
    yield;
  }
  return Buffer.concat(pieces);
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
