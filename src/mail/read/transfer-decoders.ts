import { BYTE } from '../../lib/bytes.js';

/** Decodes a Content-Transfer-Encoding (RFC 2045 section 6) piece by piece. */
export interface TransferDecoder {
  /** Decodes the next piece. The result never shares memory with `chunk`. */
  write(chunk: Buffer): Buffer;
  /** Ends the stream, and returns the bytes that were held back until then. */
  end(): Buffer;
}

const nothing = Buffer.alloc(0);

/** For 7bit, 8bit, binary and unknown encodings (RFC 2045 section 6.4): the bytes as they are. */
const identityDecoder: TransferDecoder = {
  write: chunk => Buffer.from(chunk),
  end: () => nothing,
};

/** @param encoding the token of Content-Transfer-Encoding in lower case */
export function createTransferDecoder(encoding: string): TransferDecoder {
  if (encoding === 'base64') return new Base64Decoder();
  if (encoding === 'quoted-printable') return new QuotedPrintableDecoder();
  return identityDecoder;
}

/** Marks a byte that is not in the alphabet. */
const FOREIGN = 0xff;
const PADDING = 0xfe;

const valueByByte = ((): Uint8Array => {
  const table = new Uint8Array(256).fill(FOREIGN);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let value = 0; value < alphabet.length; value++) table[alphabet.charCodeAt(value)] = value;
  table['='.charCodeAt(0)] = PADDING;
  return table;
})();

/**
 * Base64 as a stream (RFC 2045 section 6.8). Characters outside the alphabet are ignored, lines may have any length,
 * and decoding goes on after padding, since list software appends a second base64 stream. Node's own decoder is not
 * used: it takes `-` and `_` for digits, which have to be ignored here.
 */
class Base64Decoder {
  #bits = 0;
  /** Digits in the incomplete group, 0 to 3. */
  #digits = 0;

  write(chunk: Buffer): Buffer {
    const out = Buffer.allocUnsafe(Math.ceil((chunk.length * 3) / 4) + 3);
    let length = 0;
    let i = 0;
    while (i < chunk.length) {
      if (this.#digits === 0) {
        // Fast path: groups of four digits with nothing between them, as nearly all of a line is.
        const end = wholeGroupsEnd(chunk, i, out, length);
        length += ((end - i) / 4) * 3;
        i = end;
        if (i === chunk.length) break;
      }
      const value = digitValue(chunk[i++]);
      if (value < 64) {
        this.#bits = (this.#bits << 6) | value;
        if (++this.#digits === 4) {
          out[length++] = this.#bits >> 16;
          out[length++] = this.#bits >> 8;
          out[length++] = this.#bits;
          this.#restart();
        }
      } else if (value === PADDING) {
        length = putRest(out, length, this.#bits, this.#digits);
        this.#restart();
      }
    }
    return out.subarray(0, length);
  }

  end(): Buffer {
    const out = Buffer.allocUnsafe(2);
    const length = putRest(out, 0, this.#bits, this.#digits);
    this.#restart();
    return out.subarray(0, length);
  }

  #restart(): void {
    this.#bits = 0;
    this.#digits = 0;
  }
}

function digitValue(byte: number | undefined): number {
  return valueByByte[byte ?? 0] ?? FOREIGN;
}

/** Decodes groups of four digits from `start` on into `out`; returns where the first incomplete group begins. */
function wholeGroupsEnd(chunk: Buffer, start: number, out: Buffer, at: number): number {
  let length = at;
  let i = start;
  for (; i + 4 <= chunk.length; i += 4) {
    const a = digitValue(chunk[i]);
    const b = digitValue(chunk[i + 1]);
    const c = digitValue(chunk[i + 2]);
    const d = digitValue(chunk[i + 3]);
    if ((a | b | c | d) >= 64) break;
    out[length++] = (a << 2) | (b >> 4);
    out[length++] = (b << 4) | (c >> 2);
    out[length++] = (c << 6) | d;
  }
  return i;
}

/** Writes the whole bytes of an incomplete group: none, one or two of them. */
function putRest(out: Buffer, at: number, bits: number, digits: number): number {
  if (digits === 2) {
    out[at] = bits >> 4;
    return at + 1;
  }
  if (digits === 3) {
    out[at] = bits >> 10;
    out[at + 1] = bits >> 2;
    return at + 2;
  }
  return at;
}

const { TAB, LF, CR, SPACE, EQUALS } = BYTE;

/** A longer run of white space is text even at a line's end: lines have 76 characters (RFC 2045 section 6.7 rule 5). */
const LONGEST_WHITE_SPACE = 998;

/** The length of a line end at a position; `none` when there is none, `unknown` when more bytes are needed to tell. */
type LineEnd = 'none' | 'unknown' | number;

/**
 * Quoted-printable as a stream (RFC 2045 section 6.7). White space at line ends is dropped, also between
 * the "=" of a soft break and the line end, where relays add it; an invalid escape stays as it is.
 */
class QuotedPrintableDecoder {
  /** The end of the last piece, when its meaning depends on the next bytes. */
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

/** The value of a hexadecimal digit in either case, or -1. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The value of the two hexadecimal digits at `at`, or -1 when there are not two. */
function hexByte(data: Uint8Array, at: number): number {
  const high = hexDigit(data[at]);
  const low = hexDigit(data[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/**
 * Decodes escapes of `marker` and two hexadecimal digits; an invalid escape stays as it is. The marker is `=` in the
 * "Q" encoding (RFC 2047 section 4.2) and `%` in parameter values (RFC 2231 section 4).
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
