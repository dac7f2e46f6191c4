import { refuse } from './errors.js';

/** The version of the rules by which text becomes words. Whoever changes a rule raises it: indexes are made anew. */
export const WORDS_VERSION = 1;

/** Longer words are cut to so many UTF-16 units, in what is indexed and in what is asked alike. */
export const MAX_WORD_UNITS = 64;

/** So many UTF-16 units of a body can be found; what follows is not searched. */
export const MAX_INDEXED_UNITS = 256 * 1024;

/** Terms of one query. */
export const MAX_SEARCH_TERMS = 16;

/** Words that follow one another in the text; of the last one, `isPrefix` asks for the beginning only. */
export interface SearchTerm {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

const word = /[\p{L}\p{M}\p{N}]+/gu;
const asciiWord = /[a-z0-9]+/g;
const nonAscii = /[^\x00-\x7f]/;
const paired =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
/** A word of one kind of script within a run of letters: scripts that put no spaces between words, or others. */
const runs =
  /([\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+)|[^\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+/gu;
/** Latin, Greek and Cyrillic diacritics, Hebrew points, Arabic vowel signs; and characters that only steer the layout. */
const unsearched =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]+|[\ufe00-\ufe0f]+|[\u00ad\u0640\u200c\u2060\ufeff]+|\u200d/g;
const spelledOut = /[ßıςøłđæœ]/g;
const SPELLINGS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ı: 'i',
  ς: 'σ',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  æ: 'ae',
  œ: 'oe',
};

/** Upper case, accents and widths make no difference: `STRASSE`, `Straße` and `strasse` are one word. */
function folded(text: string): string {
  if (!nonAscii.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(unsearched, '')
    .replace(spelledOut, letter => SPELLINGS[letter] ?? letter)
    .normalize('NFC');
}

/**
 * The words of a text in order, as they are indexed: folded, each of at most `MAX_WORD_UNITS`. Whatever is no letter,
 * mark or digit parts words. A run of Han, Kana, Hangul, Thai, Lao, Khmer or Burmese, which parts its words by no
 * spaces, becomes its overlapping pairs of characters and its last character alone.
 *
 * No word has a blank in it, nor an ASCII letter in upper case.
 */
export function wordsOf(text: string): string[] {
  return readWords(text).words;
}

interface ReadWords {
  readonly words: string[];
  /** Characters of the run of paired characters that the text ends in; 0 when it ends otherwise. */
  readonly atEnd: number;
}

function readWords(text: string): ReadWords {
  const plain = folded(text);
  const words: string[] = [];
  let atEnd = 0;
  if (!nonAscii.test(plain)) {
    for (const [run] of plain.matchAll(asciiWord)) words.push(run.slice(0, MAX_WORD_UNITS));
    return { words, atEnd };
  }
  for (const [run] of plain.matchAll(word)) {
    if (nonAscii.test(run)) {
      atEnd = pushRun(words, run);
    } else {
      atEnd = 0;
      words.push(run.slice(0, MAX_WORD_UNITS));
    }
  }
  return { words, atEnd };
}

/** @returns how many paired characters the run ends in */
function pushRun(words: string[], run: string): number {
  if (!paired.test(run)) {
    words.push(cut(run));
    return 0;
  }
  let atEnd = 0;
  for (const [part, characters] of run.matchAll(runs)) {
    atEnd = characters === undefined ? 0 : pushPairs(words, characters);
    if (characters === undefined) words.push(cut(part));
  }
  return atEnd;
}

/** @returns how many characters there are */
function pushPairs(words: string[], characters: string): number {
  let before = '';
  let count = 0;
  for (const character of characters) {
    if (before !== '') words.push(before + character);
    before = character;
    count += 1;
  }
  words.push(before);
  return count;
}

/** Splits no character. */
function cut(run: string): string {
  if (run.length <= MAX_WORD_UNITS) return run;
  const isSplit = (run.codePointAt(MAX_WORD_UNITS - 1) ?? 0) > 0xffff;
  return run.slice(0, isSplit ? MAX_WORD_UNITS - 1 : MAX_WORD_UNITS);
}

const termsOrQuotes = /"([^"]*)"|[^\s"]+|"/gu;

/**
 * Reads what somebody searches for: words, and phrases in double quotes, all of which a message must have. There are no
 * operators. A term without a letter or digit, such as `&`, asks for nothing.
 * @throws `invalid_search` when a quote is not closed, when there are too many terms or when no term asks for anything
 */
export function parseSearch(query: string): SearchTerm[] {
  const written = [...query.matchAll(termsOrQuotes)];
  if (written.some(([term]) => term === '"')) {
    throw refuse(
      'invalid_search',
      'query has a double quote that is not closed. Close the phrase with another double quote, or leave it out.',
    );
  }
  if (written.length > MAX_SEARCH_TERMS) {
    throw refuse(
      'invalid_search',
      `query has ${written.length} terms; at most ${MAX_SEARCH_TERMS} words and quoted phrases may stand in it.`,
    );
  }
  const terms = written.flatMap(([term, phrase]) => searchTerm(phrase ?? term) ?? []);
  if (terms.length === 0) {
    throw refuse(
      'invalid_search',
      'query holds no letter and no digit: give at least one word to search for.',
    );
  }
  return terms;
}

/**
 * The text of a message may go on where a term ends in a script without spaces. So its last character is not asked for
 * alone, unless there is no other: then every pair that begins with it will do.
 */
function searchTerm(text: string): SearchTerm | null {
  const { words, atEnd } = readWords(text);
  if (words.length === 0) return null;
  return atEnd > 1 ? { words: words.slice(0, -1), isPrefix: false } : { words, isPrefix: atEnd === 1 };
}
