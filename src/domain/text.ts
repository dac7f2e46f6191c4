import { MAX_ANSWER_LENGTH, MAX_FILENAME_BYTES, MAX_NAME_BYTES } from '../contract/limits.js';
import { utf8End } from '../lib/bytes.js';
import { refuse } from './errors.js';

const CONTROL = /\p{Cc}/u;

/** What is wrong with a text that somebody gave for one line of a message or a list. */
export type LineFault = 'control' | 'ill_formed' | 'too_long';

/**
 * Looks at a text that is to stand in one line: well-formed Unicode without control characters.
 * @param maxBytes of UTF-8, as it is given: who trims does so before
 * @returns the first fault, in the order of `LineFault`; null when there is none
 */
export function lineFaultOf(text: string, maxBytes: number): LineFault | null {
  if (CONTROL.test(text)) return 'control';
  if (!text.isWellFormed()) return 'ill_formed';
  return Buffer.byteLength(text) > maxBytes ? 'too_long' : null;
}

/** The text without white space around it; null when that is nothing, or when there is no text. */
export function trimmed(text: string | null | undefined): string | null {
  return text?.trim() || null;
}

const NAME_FAULTS: Record<LineFault, string> = {
  control: 'must not contain control characters.',
  ill_formed: 'must be well-formed Unicode.',
  too_long: `must be at most ${MAX_NAME_BYTES} bytes of UTF-8 after trimming.`,
};

/**
 * A display name: trimmed; blank, null and absent all mean no name.
 * @param field is named in the refusal
 * @returns the name or null
 * @throws `invalid_name`
 */
export function normaliseName(field: string, value: string | null | undefined): string | null {
  const name = trimmed(value);
  const fault = name === null ? null : lineFaultOf(name, MAX_NAME_BYTES);
  if (fault !== null) throw refuse('invalid_name', `${field} ${NAME_FAULTS[fault]}`);
  return name;
}

/** Line breaks and tabs, which separate words. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/**
 * C0 and C1 controls, DEL, and the explicit bidirectional controls (UAX 9 section 2), which reorder what
 * stands around a value: an address or a file name would read as another one.
 */
const controls = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const suspicious = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Text made safe to show and to carry on: no line break, no control, no white space around it. */
export function cleanText(text: string): string {
  return (suspicious.test(text) ? text.replace(breaks, ' ').replace(controls, '') : text).trim();
}

/** The longest beginning of `text` that has at most `maxBytes` bytes of UTF-8 and ends between two characters. */
export function utf8Prefix(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  // Each unit of UTF-16 is at least one byte, so what lies beyond cannot fit.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  return bytes.length <= maxBytes ? text : bytes.toString('utf8', 0, utf8End(bytes, maxBytes));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text made to stand in HTML, between tags or in the quoted value of an attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, char => ENTITIES[char] ?? char);
}

/** An ending is short; a longer one is not worth keeping. */
const MAX_ENDING_BYTES = 32;

/**
 * A name that is safe as a file name: the last path part, by either separator, without a drive, controls
 * or bidirectional controls, cut to 255 bytes of UTF-8 with its ending kept. Null when nothing is left.
 */
export function safeFilename(name: string): string | null {
  const part = cleanText(cleanText(name).split(/[/\\]/).at(-1) ?? '');
  const bare = part.replace(/^[a-z]:/i, '').trim();
  return /^\.*$/.test(bare) ? null : shorten(bare);
}

function shorten(name: string): string {
  if (name.length * 3 <= MAX_FILENAME_BYTES || Buffer.byteLength(name) <= MAX_FILENAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MAX_ENDING_BYTES ? name.slice(dot) : '';
  const stem = name.slice(0, name.length - ending.length);
  return utf8Prefix(stem, MAX_FILENAME_BYTES - Buffer.byteLength(ending)).trimEnd() + ending;
}

/**
 * What a claimer says about how it came here or what for, in plain text. Whatever is no such text is no answer: it
 * never stands in the way of a claim.
 */
export function readResearchAnswer(value: unknown): string | null {
  if (typeof value !== 'string' || !value.isWellFormed()) return null;
  const answer = trimmed(value);
  return answer === null || answer.length > MAX_ANSWER_LENGTH ? null : answer;
}

/*
 * The line that names the service behind every message it sends, quoted history included (specification,
 * Sending rule 3; decisions, Sending, Attribution).
 */

/** The line, where the configuration gives no other one. */
export function attributionLine(serviceName: string): string {
  return `Sent via ${serviceName}`;
}

/** Text with a blank line and the line behind it. */
export function attributeText(text: string, line: string): string {
  const lineEnd = text === '' || /[\r\n]$/.test(text) ? '' : '\n';
  return `${text}${lineEnd}\n${line}`;
}

/** HTML with the line as a paragraph before the last `</body>`, or at its end where there is none. */
export function attributeHtml(html: string, line: string): string {
  const at = lastBodyEnd(html);
  return `${html.slice(0, at)}<p>${escapeHtml(line)}</p>\n${html.slice(at)}`;
}

/** The last one in the document, whatever it stands in: looking from the end costs next to nothing. */
function lastBodyEnd(html: string): number {
  for (let at = html.length; at > 0; ) {
    at = html.lastIndexOf('</', at - 1);
    if (at < 0) break;
    if (/^<\/body[\s/>]/i.test(html.slice(at, at + '</body>'.length))) return at;
  }
  return html.length;
}
