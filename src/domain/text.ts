import { MAX_ANSWER_LENGTH, MAX_FILENAME_BYTES, MAX_NAME_BYTES } from '../contract/limits.js';
import { utf8End } from '../lib/bytes.js';
import { piecesOfText } from '../lib/slices.js';
import { refuse } from './errors.js';
import { attributionPlace } from './html/attribution-place.js';

const CONTROL = /\p{Cc}/u;

/** What can be wrong with a text that has to fit on one line. */
export type LineFault = 'control' | 'ill_formed' | 'too_long';

/**
 * Checks that a text fits on one line: well-formed Unicode, no control characters, at most `maxBytes` of UTF-8.
 * White space around it counts: trim first.
 * @returns the first fault, in the order of `LineFault`; null when there is none
 */
export function lineFaultOf(text: string, maxBytes: number): LineFault | null {
  if (CONTROL.test(text)) return 'control';
  if (!text.isWellFormed()) return 'ill_formed';
  return Buffer.byteLength(text) > maxBytes ? 'too_long' : null;
}

/** The text without white space around it; null when it is blank or absent. */
export function trimmed(text: string | null | undefined): string | null {
  return text?.trim() || null;
}

const NAME_FAULTS: Record<LineFault, string> = {
  control: 'must not contain control characters.',
  ill_formed: 'must be well-formed Unicode.',
  too_long: `must be at most ${MAX_NAME_BYTES} bytes of UTF-8 after trimming.`,
};

/**
 * Trims and checks a display name; blank, null and absent all mean no name.
 * @param field the name of the field, for the refusal
 * @returns the name, or null for none
 * @throws `invalid_name`
 */
export function normaliseName(field: string, value: string | null | undefined): string | null {
  const name = trimmed(value);
  const fault = name === null ? null : lineFaultOf(name, MAX_NAME_BYTES);
  if (fault !== null) throw refuse('invalid_name', `${field} ${NAME_FAULTS[fault]}`);
  return name;
}

/** Line breaks and tabs. They separate words, so each run becomes a space. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/**
 * C0 and C1 controls, DEL, and the explicit bidirectional controls (UAX 9 section 2). Those reorder the text around
 * them, so that an address or a file name would read as another one.
 */
const controls = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const suspicious = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Text made safe to show and to copy into a header: no line breaks, no controls, no white space around it. */
export function cleanText(text: string): string {
  return (suspicious.test(text) ? text.replace(breaks, ' ').replace(controls, '') : text).trim();
}

/** White space, and characters that nobody sees (Unicode, Default_Ignorable_Code_Point), among them zero-width spaces. */
const INVISIBLE = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Can anything of a text be seen? It yields after each short piece of work. */
export function* isVisible(text: string): Generator<void, boolean> {
  for (const piece of piecesOfText(text)) {
    if (!INVISIBLE.test(piece)) return true;
    yield;
  }
  return false;
}

/** The longest prefix of `text` that has at most `maxBytes` bytes of UTF-8 and splits no character. */
export function utf8Prefix(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  // Each UTF-16 unit takes at least one byte, so no more than this many units can fit.
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

/** Escapes text for HTML, between tags or in the quoted value of an attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, char => ENTITIES[char] ?? char);
}

/** When a file name is cut, an extension longer than this is not kept. */
const MAX_EXTENSION_BYTES = 32;

/**
 * A safe file name: the last part of a path with slashes or backslashes, without a drive letter or controls, cut to
 * `MAX_FILENAME_BYTES` of UTF-8 with its extension kept. Null when nothing is left.
 */
export function safeFilename(name: string): string | null {
  const part = cleanText(cleanText(name).split(/[/\\]/).at(-1) ?? '');
  const bare = part.replace(/^[a-z]:/i, '').trim();
  return /^\.*$/.test(bare) ? null : shorten(bare);
}

function shorten(name: string): string {
  if (name.length * 3 <= MAX_FILENAME_BYTES || Buffer.byteLength(name) <= MAX_FILENAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MAX_EXTENSION_BYTES ? name.slice(dot) : '';
  const stem = name.slice(0, name.length - ending.length);
  return utf8Prefix(stem, MAX_FILENAME_BYTES - Buffer.byteLength(ending)).trimEnd() + ending;
}

/**
 * An optional answer of `createClaim`, such as what the agent will use the service for. Anything that is not a short
 * text counts as no answer: a bad answer must never make a claim fail.
 */
export function readResearchAnswer(value: unknown): string | null {
  if (typeof value !== 'string' || !value.isWellFormed()) return null;
  const answer = trimmed(value);
  return answer === null || answer.length > MAX_ANSWER_LENGTH ? null : answer;
}

/*
 * The attribution: a line that names the service, at the end of every message it sends, after quoted history too.
 */

/** The default of the configuration key `service.attribution`. */
export function attributionLine(serviceName: string): string {
  return `Sent via ${serviceName}`;
}

/** The text, then a blank line, then the attribution. */
export function attributeText(text: string, line: string): string {
  const lineEnd = text === '' || /[\r\n]$/.test(text) ? '' : '\n';
  return `${text}${lineEnd}\n${line}`;
}

/**
 * The HTML with the attribution as a paragraph before the last `</body>`, or at its end when there is none; what would
 * hide it there is closed first. It yields after each short piece of work.
 */
export function* attributeHtml(html: string, line: string): Generator<void, string> {
  const { at, closing } = yield* attributionPlace(html);
  return `${html.slice(0, at)}${closing}<p>${escapeHtml(line)}</p>\n${html.slice(at)}`;
}
