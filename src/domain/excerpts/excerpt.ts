import type { Preview } from '../../contract/common.js';
import { htmlToText } from '../html/html-to-text.js';
import { isVisible } from '../text.js';
import { htmlWithoutQuotes } from './html-quotes.js';
import { newWordsOf, type Part } from './new-words.js';
import { isForwardSubject } from './phrases.js';
import { previewOf } from './preview.js';

/** The subject and bodies of a message. Lines of the text end in LF. */
export interface Bodies {
  readonly subject: string | null;
  readonly text: string | null;
  readonly html: string | null;
  /** Which of them is no more than the beginning of what it was. */
  readonly cut?: 'text' | 'html' | null;
}

/**
 * The new words of a message: parts of its text, in order; or, where they come from its HTML, a text of their own. Null
 * where they could not be told.
 */
export type NewWords = readonly Part[] | string | null;

/** What is kept of the bodies of a message beside them: how it begins, and what of it is new. */
export interface Excerpt {
  readonly preview: Preview;
  readonly newWords: NewWords;
}

/** In a longer text (UTF-16 units) nobody looks for quotes. */
export const MAX_TEXT_UNITS = 256 * 1024;
/** The same of HTML, which has many times as many. */
export const MAX_HTML_UNITS = 1024 * 1024;
/** New words that come from HTML are kept beside it: so many bytes of JSON at most. */
export const MAX_KEPT_BYTES = 64 * 1024;
/** Answers between so many quotes are kept as parts of the text. */
const MAX_PARTS = 256;

/**
 * What is kept of the bodies of a message beside them. Its text counts; its HTML does where no text can be seen. It
 * yields after each short piece of work.
 */
export function* excerptOf(bodies: Bodies): Generator<void, Excerpt> {
  const { subject, text, html, cut = null } = bodies;
  const isForward = isForwardSubject(subject);
  if (html === null || (text !== null && (yield* isVisible(text)))) {
    const isLong = cut === 'text' || (text ?? '').length > MAX_TEXT_UNITS;
    return isLong ? untold(text ?? '', 'text') : yield* ofText(text ?? '', isForward);
  }
  if (cut !== 'html' && html.length <= MAX_HTML_UNITS) {
    const found = yield* ofHtml(html, isForward);
    if (found !== null) return found;
  }
  return untold(yield* htmlToText(html.slice(0, MAX_HTML_UNITS)), 'html');
}

function untold(text: string, source: 'text' | 'html'): Excerpt {
  return { preview: previewOf(text, source), newWords: null };
}

function* ofText(text: string, isForward: boolean): Generator<void, Excerpt> {
  const parts = yield* newWordsOf(text, isForward);
  if (parts.length > MAX_PARTS) return untold(text, 'text');
  return { preview: previewOf(joined(text, parts), 'reply_text'), newWords: parts };
}

/** Null when there are more new words than are kept. */
function* ofHtml(html: string, isForward: boolean): Generator<void, Excerpt | null> {
  const text = yield* htmlToText(yield* htmlWithoutQuotes(html, isForward));
  const newWords = joined(text, yield* newWordsOf(text, isForward));
  if (Buffer.byteLength(JSON.stringify(newWords)) > MAX_KEPT_BYTES) return null;
  return { preview: previewOf(newWords, 'reply_text'), newWords };
}

function joined(text: string, parts: readonly Part[]): string {
  return parts.map(({ start, end }) => text.slice(start, end)).join('');
}
