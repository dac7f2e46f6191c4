/** Characters of a line, the "=" of a soft line break included (RFC 2045 section 6.7 rule 5). */
const LINE = 76;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DOT = 0x2e;
const EQUALS = 0x3d;
const TILDE = 0x7e;
const HEX = Buffer.from('0123456789ABCDEF');

/**
 * Text with CRLF line ends in quoted-printable (RFC 2045 section 6.7), or null when that takes more than
 * `maxLength` octets. A line of it never ends in white space, never begins with `From ` (which mbox files
 * mangle) or a dot (which relays once did), and so passes whatever moves it.
 */
export function encodeQuotedPrintable(text: Buffer, maxLength: number): Buffer | null {
  // Room for one more piece than fits, so that what is too long shows.
  const out = Buffer.allocUnsafe(maxLength + 6);
  let length = 0;
  let column = 0;
  for (let i = 0; i < text.length && length <= maxLength; i++) {
    const byte = text[i] ?? 0;
    // What stands for itself inside of a line: nearly all of most texts.
    if (column > 0 && column < LINE - 1 && byte > SPACE && byte <= TILDE && byte !== EQUALS) {
      out[length++] = byte;
      column++;
      continue;
    }
    if (byte === CARRIAGE_RETURN && text[i + 1] === LINE_FEED) {
      out[length++] = CARRIAGE_RETURN;
      out[length++] = LINE_FEED;
      column = 0;
      i++;
      continue;
    }
    const isLast = text[i + 1] === CARRIAGE_RETURN && text[i + 2] === LINE_FEED;
    let isPlain = isPlainByte(byte, isLast || i + 1 === text.length);
    // All but the last of a line leave room for the "=" behind them.
    if (column + (isPlain ? 1 : 3) > (isLast ? LINE : LINE - 1)) {
      out[length++] = EQUALS;
      out[length++] = CARRIAGE_RETURN;
      out[length++] = LINE_FEED;
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
export function isFromLine(text: Buffer, at: number): boolean {
  return (
    text[at] === 0x46 &&
    text[at + 1] === 0x72 &&
    text[at + 2] === 0x6f &&
    text[at + 3] === 0x6d &&
    text[at + 4] === SPACE
  );
}
