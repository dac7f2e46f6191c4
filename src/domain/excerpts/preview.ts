import type { Preview } from '../../contract/common.js';
import { MAX_PREVIEW_LENGTH } from '../../contract/limits.js';

/** A cut goes back to the end of a word, but no further than this. */
const MIN_LENGTH = 200;

/** How much of a text is looked at; where most of that is white space, how much more. */
const LOOKS = [640, 32_768] as const;

/** White space and controls, with invisible characters among them, which pad the previews of newsletters. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these characters is meant by itself
const RUN = /[\s\p{Cc}\u00ad\u034f\u200b-\u200f\u2060\u2800\u3164\ufeff]+/gu;
const SPACE = /[\s\p{Cc}\u2800\u3164]/u;
/** Is there more than white space of the plain kind to think of? */
const UNUSUAL = /[^\n\r\t -\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u1fff\u3001-\u3163\u3165-\ud7ff]/;
/** Characters that would show what stands after them in another order (UAX 9 section 2). */
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * The beginning of what a message says, on one line: each run of white space is one space. At most `MAX_PREVIEW_LENGTH`
 * characters (code points), cut at the end of a word if one is near.
 */
export function previewOf(text: string, source: Preview['source']): Preview {
  let line = '';
  for (const look of LOOKS) {
    line = oneLine(text.slice(0, look));
    const end = endOfCharacters(line, MAX_PREVIEW_LENGTH);
    // A surrogate pair that the look has cut in two is far behind what is shown.
    if (end < line.length) return { text: cut(line, end), truncated: true, source };
    if (text.length <= look) return { text: line.toWellFormed(), truncated: false, source };
  }
  return { text: line.toWellFormed(), truncated: true, source };
}

function oneLine(text: string): string {
  if (!UNUSUAL.test(text)) return text.replace(/\s+/g, ' ').trim();
  return text
    .replace(CONTROLS, '')
    .replace(RUN, run => (SPACE.test(run) ? ' ' : run))
    .trim();
}

/** Where so many characters of a text end, or the text does. */
function endOfCharacters(text: string, count: number): number {
  let at = 0;
  for (let characters = 0; characters < count && at < text.length; characters++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

/** What extends the character before it: accents, variations, joiners, skin tones. */
const EXTENDS = /^(?:\p{M}|\u200d|\p{Emoji_Modifier})/u;
const JOINER = '\u200d';

/** A line, cut at `end` or not far before it. */
function cut(line: string, end: number): string {
  const space = line.lastIndexOf(' ', end);
  if (space >= endOfCharacters(line, MIN_LENGTH)) return line.slice(0, space).toWellFormed();
  const characters = Array.from(line.slice(0, end));
  let next = line.slice(end, end + 2);
  while (characters.length > MIN_LENGTH && (EXTENDS.test(next) || characters.at(-1) === JOINER)) {
    next = characters.pop() ?? '';
  }
  return characters.join('').trimEnd().toWellFormed();
}
