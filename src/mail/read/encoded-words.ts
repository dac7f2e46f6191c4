import { decodeText } from './charset.js';

/** A charset name is short; with a longer one it is not an encoded word. */
const LONGEST_CHARSET = 80;

/** An encoded word `=?charset?Q?text?=` (RFC 2047 section 2) and its position in the text. */
export interface EncodedWord {
  readonly start: number;
  readonly end: number;
  readonly charset: string;
  readonly encoding: 'b' | 'q';
  readonly textStart: number;
}

/**
 * Decodes the encoded words in `text` (RFC 2047). White space between two of them is dropped (section 6.2). The bytes
 * of neighbours with the same charset are joined before decoding, since senders split characters between words
 * although section 5 forbids it. Encoded words inside other text, in quoted strings, and with white space in them are
 * decoded too, as common mail clients do.
 */
export function decodeEncodedWords(text: string): string {
  let out = '';
  let position = 0;
  let charset = '';
  let run: Buffer[] = [];
  const endRun = (): void => {
    if (run.length > 0) out += decodeText(Buffer.concat(run), charset);
    run = [];
  };
  for (const word of findEncodedWords(text)) {
    const between = text.slice(position, word.start);
    const isNeighbour = position > 0 && /^\s*$/.test(between);
    if (!isNeighbour || word.charset !== charset) endRun();
    if (!isNeighbour) out += between;
    charset = word.charset;
    run.push(wordBytes(text, word));
    position = word.end;
  }
  endRun();
  return position === 0 ? text : out + text.slice(position);
}

/**
 * Finds the encoded words in `text`, in one pass. When several beginnings come before one end, only the last of them is
 * a word.
 */
export function findEncodedWords(text: string): readonly EncodedWord[] {
  const words: EncodedWord[] = [];
  let start = text.indexOf('=?');
  while (start >= 0) {
    const head = wordHead(text, start);
    if (head === null) {
      start = text.indexOf('=?', start + 1);
      continue;
    }
    const end = text.indexOf('?=', head.textStart);
    if (end < 0) break;
    // The padding `=` of base64 and the `?` of the end look like a beginning, and are none.
    const inner = text.lastIndexOf('=?', end - 2);
    if (inner >= head.textStart) {
      start = inner;
      continue;
    }
    words.push({ ...head, start, end: end + 2 });
    start = text.indexOf('=?', end + 2);
  }
  return words;
}

type WordHead = Pick<EncodedWord, 'charset' | 'encoding' | 'textStart'>;

/** Reads `=?charset?B?`. The charset may be followed by a language (RFC 2231 section 5), which is dropped. */
function wordHead(text: string, start: number): WordHead | null {
  const charsetStart = start + 2;
  const charsetLength = text.slice(charsetStart, charsetStart + LONGEST_CHARSET).indexOf('?');
  const encoding = text[charsetStart + charsetLength + 1]?.toLowerCase();
  if (charsetLength < 1 || (encoding !== 'b' && encoding !== 'q')) return null;
  if (text[charsetStart + charsetLength + 2] !== '?') return null;
  const charset = text
    .slice(charsetStart, charsetStart + charsetLength)
    .replace(/\*.*$/, '')
    .toLowerCase();
  return /\s/.test(charset) ? null : { charset, encoding, textStart: charsetStart + charsetLength + 3 };
}

/** The bytes of a word in "B" (base64) or "Q" encoding, where `_` is a space (RFC 2047 section 4). */
function wordBytes(text: string, { encoding, textStart, end }: EncodedWord): Buffer {
  const encoded = text.slice(textStart, end - 2);
  return encoding === 'b'
    ? Buffer.from(encoded, 'base64')
    : decodeHexEscapes(Buffer.from(encoded.replaceAll('_', ' ')), '=');
}

/** The value of a hexadecimal digit in either case, or -1. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The value of the two hexadecimal digits at `at`, or -1 when there are not two. */
export function hexByte(data: Uint8Array, at: number): number {
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
