import { decodeUnlabelled } from './charset.js';
import { decodeEncodedWords } from './encoded-words.js';

/** Line breaks and tabs, which separate words. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/**
 * C0 and C1 controls, DEL, and the explicit bidirectional controls (UAX 9 section 2), which reorder what
 * stands around a value: an address or a file name would read as another one.
 */
const controls = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const suspicious = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
/** The same in a value that still holds one character for each byte. */
const plainAscii = /^[\t\u0020-\u007e]*$/;

/** Decoded text made safe to show and to carry on: no line break, no control, no white space around it. */
export function cleanText(text: string): string {
  return (suspicious.test(text) ? text.replace(breaks, ' ').replace(controls, '') : text).trim();
}

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
