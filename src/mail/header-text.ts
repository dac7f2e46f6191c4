import { cleanText } from '../domain/clean-text.js';
import { decodeUnlabelled } from './charset.js';
import { decodeEncodedWords } from './encoded-words.js';

const plainAscii = /^[\t\u0020-\u007e]*$/;

/** The characters of a raw header value, which holds one character for each byte (RFC 6532, or a guess). */
export function decodeRawValue(raw: string): string {
  return plainAscii.test(raw) ? raw : decodeUnlabelled(Buffer.from(raw, 'latin1'));
}

/** An unstructured header field such as Subject: encoded words decoded (RFC 2047), cleaned. */
export function unstructuredText(raw: string, maxEncodedWords: number): string {
  return cleanText(decodeEncodedWords(decodeRawValue(raw), maxEncodedWords));
}

/** A header field shown as written: unfolded, each run of white space as one space, nothing decoded. */
export function writtenText(raw: string): string {
  return cleanText(decodeRawValue(raw)).replace(/\s+/g, ' ');
}
