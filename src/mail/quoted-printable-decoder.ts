import { hexByte } from './hex-escape.js';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const EQUALS = 0x3d;

/** White space at a line's end beyond this is text: a line holds 76 characters (RFC 2045 section 6.7 rule 5). */
const LONGEST_WHITE_SPACE = 998;

/** The length of a line end at some position, or that there is none, or that only more bytes can tell. */
type LineEnd = 'none' | 'unknown' | number;

/**
 * Quoted-printable as a stream (RFC 2045 section 6.7). White space at line ends is dropped, also between
 * the "=" of a soft break and the line end, where relays add it; an invalid escape stays as it is.
 */
export class QuotedPrintableDecoder {
  /** The tail of the last piece whose meaning depends on what follows. */
  #held: Buffer | null = null;

  write(chunk: Buffer): Buffer {
    return this.#decode(this.#held === null ? chunk : Buffer.concat([this.#held, chunk]), false);
  }

  end(): Buffer {
    return this.#held === null ? Buffer.alloc(0) : this.#decode(this.#held, true);
  }

  #decode(data: Buffer, isFinal: boolean): Buffer {
    const out = Buffer.allocUnsafe(data.length);
    let length = 0;
    let i = 0;
    this.#held = null;
    while (i < data.length) {
      const byte = data[i] ?? 0;
      // A blank with text right behind it is the common case of one that is not at a line's end.
      if (byte !== EQUALS && ((byte !== SPACE && byte !== TAB) || (data[i + 1] ?? 0) > SPACE)) {
        out[length++] = byte;
        i++;
        continue;
      }
      if (byte === EQUALS) {
        const escaped = hexByte(data, i + 1);
        if (escaped >= 0) {
          out[length++] = escaped;
          i += 3;
          continue;
        }
      }
      const textEnd = endOfWhiteSpace(data, byte === EQUALS ? i + 1 : i);
      const lineEnd = lineEndAt(data, textEnd, isFinal);
      const isCutEscape = byte === EQUALS && i + 2 === data.length;
      if (!isFinal && (lineEnd === 'unknown' || isCutEscape)) {
        this.#held = Buffer.from(data.subarray(i));
        break;
      }
      if (typeof lineEnd === 'number') {
        // After "=" the line end goes with it (soft break); else only the white space before it goes.
        i = byte === EQUALS ? textEnd + lineEnd : textEnd;
      } else if (byte === EQUALS) {
        out[length++] = byte;
        i++;
      } else {
        length += data.copy(out, length, i, textEnd);
        i = textEnd;
      }
    }
    return out.subarray(0, length);
  }
}

function endOfWhiteSpace(data: Buffer, from: number): number {
  const limit = Math.min(data.length, from + LONGEST_WHITE_SPACE);
  let i = from;
  while (i < limit && (data[i] === SPACE || data[i] === TAB)) i++;
  return i;
}

/** The length of the line end at `at`; the end of the data is a line end of no length once it is final. */
function lineEndAt(data: Buffer, at: number, isFinal: boolean): LineEnd {
  if (at >= data.length) return isFinal ? 0 : 'unknown';
  if (data[at] === LINE_FEED) return 1;
  if (data[at] !== CARRIAGE_RETURN) return 'none';
  if (at + 1 >= data.length) return isFinal ? 'none' : 'unknown';
  return data[at + 1] === LINE_FEED ? 2 : 'none';
}
