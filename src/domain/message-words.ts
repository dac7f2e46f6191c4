import { htmlToText } from './html/html-to-text.js';
import { MAX_INDEXED_UNITS, type SearchTerm, wordsOf } from './search-words.js';

/** The words by which a message is found, each field in its order. Attachments and file names have none. */
export interface MessageWords {
  readonly subject: readonly string[];
  readonly body: readonly string[];
}

/** What the words of a message are taken from. */
export interface SearchedTexts {
  readonly subject: string | null;
  readonly text: string | null;
  readonly html: string | null;
}

/** UTF-16 units of a subject that can be found. */
const MAX_SUBJECT_UNITS = 4096;
/** UTF-16 units of HTML whose text can be found. */
const MAX_HTML_UNITS = 1024 * 1024;
/** UTF-16 units whose words are made between two pauses: they take about a millisecond. */
const PIECE_UNITS = 16 * 1024;
/** Between these and what follows no word can stretch. */
const parting = /[\s.,;!?、。，！？]/g;

/** The words of a message, of its HTML only where it has no plain text. It yields after each short piece of work. */
export function* messageWords({ subject, text, html }: SearchedTexts): Generator<void, MessageWords> {
  const hasText = text !== null && text.trim() !== '';
  const body = hasText || html === null ? (text ?? '') : yield* htmlToText(html.slice(0, MAX_HTML_UNITS));
  const words: string[] = [];
  for (const piece of piecesOf(body.slice(0, MAX_INDEXED_UNITS))) {
    for (const word of wordsOf(piece)) words.push(word);
    yield;
  }
  return { subject: wordsOf((subject ?? '').slice(0, MAX_SUBJECT_UNITS)), body: words };
}

/** As `messageWords`, at once: for a thread of its own. */
export function messageWordsAtOnce(texts: SearchedTexts): MessageWords {
  const work = messageWords(texts);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

function* piecesOf(text: string): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    parting.lastIndex = at + PIECE_UNITS;
    const end = parting.exec(text) === null ? text.length : parting.lastIndex;
    yield text.slice(at, end);
    at = end;
  }
}

/** Words as one text, in which they are kept and passed on: a line for each field, blanks between words. */
export function joinWords({ subject, body }: MessageWords): string {
  return `${subject.join(' ')}\n${body.join(' ')}`;
}

/** The fields of words that were joined, as texts. */
export function splitFields(joined: string): { readonly subject: string; readonly body: string } {
  const end = joined.indexOf('\n');
  return { subject: joined.slice(0, end), body: joined.slice(end + 1) };
}

/**
 * Has a message all terms, each in its subject or its body?
 * @param joined its words, as `joinWords` makes them
 */
export function hasTerms(joined: string, terms: readonly SearchTerm[]): boolean {
  // Each word now has a blank on both sides, and the line feed, which no term holds, keeps the fields apart.
  const text = ` ${joined.replace('\n', ' \n ')} `;
  return terms.every(({ words, isPrefix }) => text.includes(` ${words.join(' ')}${isPrefix ? '' : ' '}`));
}
