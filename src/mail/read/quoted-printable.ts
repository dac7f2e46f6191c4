import { Transform, type TransformCallback } from 'node:stream';
import { BYTE } from '../../lib/bytes.js';
import { hexByte } from './encoded-words.js';

const { TAB, LF, CR, SPACE, EQUALS } = BYTE;

/** A longer run of white space is text even at a line's end: lines have 76 characters (RFC 2045 section 6.7 rule 5). */
const LONGEST_WHITE_SPACE = 998;

/** The length of a line end at a position; `none` when there is none, `unknown` when more bytes are needed to tell. */
type LineEnd = 'none' | 'unknown' | number;

/**
 * Quoted-printable as a stream (RFC 2045 section 6.7). White space at line ends is dropped, also between the "=" of a
 * soft break and the line end, where relays add it; an invalid escape stays as it is. The decoder of mailparser is not
 * used: it holds a part to its end and replaces over all of it, for which the memory of a thread does not suffice.
 */
export class QuotedPrintableDecoder extends Transform {
  /** The end of the last piece, when its meaning depends on the next bytes. */
  #held: Buffer | null = null;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, this.#decode(this.#held === null ? chunk : Buffer.concat([this.#held, chunk]), false));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#held === null ? null : this.#decode(this.#held, true));
  }

  #decode(data: Buffer, isFinal: boolean): Buffer {
    const out = Buffer.allocUnsafe(data.length);
    let length = 0;
    let i = 0;
    this.#held = null;
    while (i < data.length) {
      const byte = data[i] ?? 0;
      // Fast path: a plain byte, or white space with text directly after it.
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
        // A soft break is dropped with its line end; otherwise only the white space before the line end is dropped.
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

/** The line end at `at`. Once the data is final, its end counts as a line end of length 0. */
function lineEndAt(data: Buffer, at: number, isFinal: boolean): LineEnd {
  if (at >= data.length) return isFinal ? 0 : 'unknown';
  if (data[at] === LF) return 1;
  if (data[at] !== CR) return 'none';
  if (at + 1 >= data.length) return isFinal ? 'none' : 'unknown';
  return data[at + 1] === LF ? 2 : 'none';
}
