import { isAscii } from 'node:buffer';
import { base64Length, writeBase64 } from './base64-encoder.js';
import { encodeQuotedPrintable, isFromLine } from './quoted-printable-encoder.js';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DOT = 0x2e;
const DELETE = 0x7f;

/** Characters of a line without its end (RFC 5322 section 2.1.1). */
const LONGEST_LINE = 78;

/** A body as it is transmitted. */
export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  readonly body: Buffer;
}

/**
 * Text as a body in UTF-8 (RFC 2045 section 6). CR, LF and CRLF are line ends alike, and the last line has one
 * too. It is sent as it stands where every relay leaves it so, else in the shorter one of quoted-printable
 * and base64; where they are equal in the one that people can read.
 * @param delimiter text that no body may hold as it stands, since it ends a part
 */
export function encodeText(text: string, delimiter: string): EncodedText {
  const lines = withLineEnds(Buffer.from(text, 'utf8'));
  if (passesUnchanged(lines) && !lines.includes(delimiter)) return { encoding: '7bit', body: lines };
  const length = base64Length(lines.length);
  const quoted = encodeQuotedPrintable(lines, length);
  if (quoted !== null) return { encoding: 'quoted-printable', body: quoted };
  const body = Buffer.allocUnsafe(length);
  writeBase64(lines, body, 0);
  return { encoding: 'base64', body };
}

/** With CRLF for every line end, and one at the end of what is not empty. */
function withLineEnds(bytes: Buffer): Buffer {
  let added = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === LINE_FEED && bytes[i - 1] !== CARRIAGE_RETURN) added++;
    else if (byte === CARRIAGE_RETURN && bytes[i + 1] !== LINE_FEED) added++;
  }
  const last = bytes[bytes.length - 1];
  const isEnded = last === undefined || last === LINE_FEED || last === CARRIAGE_RETURN;
  if (added === 0 && isEnded) return bytes;
  const out = Buffer.allocUnsafe(bytes.length + added + (isEnded ? 0 : 2));
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
      out[length++] = byte;
      continue;
    }
    if (byte === CARRIAGE_RETURN && bytes[i + 1] === LINE_FEED) i++;
    out[length++] = CARRIAGE_RETURN;
    out[length++] = LINE_FEED;
  }
  if (!isEnded) {
    out[length++] = CARRIAGE_RETURN;
    out[length++] = LINE_FEED;
  }
  return out;
}

/**
 * True for short lines of printable ASCII that no relay or mail file changes: none ends in white space, none
 * is a lone dot, none begins with `From ` (RFC 2049 section 3).
 */
function passesUnchanged(lines: Buffer): boolean {
  if (!isAscii(lines)) return false;
  let start = 0;
  for (let i = 0; i < lines.length; i++) {
    const byte = lines[i] ?? 0;
    if (byte === CARRIAGE_RETURN) {
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
