import type { Excerpt } from './excerpt.js';

/**
 * An excerpt as it is kept: as the JSON that is answered, made once.
 */
export interface KeptExcerpt {
  /** `Preview`, or `null`. */
  readonly preview: string;
  /** The new words as a text; `null`; or where they stand in the JSON of the content (`NewWordsPlaces`). */
  readonly newWords: string;
}

/**
 * Where new words stand in the JSON of a content: byte offsets of the pieces of the text, as they are escaped there. Texts
 * would otherwise be kept twice.
 */
export type NewWordsPlaces = readonly (readonly [start: number, end: number])[];

/** Excerpts of an older version are made again in the background. */
export const EXCERPT_VERSION = 1;

/** Of a message whose bodies cannot be read, or have not been looked at. */
export const NO_EXCERPT: KeptExcerpt = { preview: 'null', newWords: 'null' };

/**
 * The form in which an excerpt is kept. It yields after each short piece of work.
 * @param text the text whose parts are new, if parts of it are
 * @param textAt where the JSON of the content has its first character, in bytes
 */
export function* keptExcerpt(
  { preview, newWords }: Excerpt,
  text: string,
  textAt: number,
): Generator<void, KeptExcerpt> {
  const shown = JSON.stringify(preview);
  if (newWords === null || typeof newWords === 'string') {
    return { preview: shown, newWords: JSON.stringify(newWords) };
  }
  const places: [number, number][] = [];
  let at = textAt;
  let before = 0;
  for (const { start, end } of newWords) {
    at += jsonBytes(text, before, start);
    const from = at;
    at += jsonBytes(text, start, end);
    places.push([from, at]);
    before = end;
    yield;
  }
  return { preview: shown, newWords: places.length === 0 ? '""' : JSON.stringify(places) };
}

/** How long a piece of a text is in JSON. Lines are not cut, so neither are surrogate pairs. */
function jsonBytes(text: string, start: number, end: number): number {
  return start === end ? 0 : Buffer.byteLength(JSON.stringify(text.slice(start, end))) - 2;
}

/** Places as they are kept; null where the new words are kept as a text, or there are none. */
export function placesOf(newWords: KeptExcerpt['newWords']): NewWordsPlaces | null {
  return newWords.startsWith('[') ? (JSON.parse(newWords) as NewWordsPlaces) : null;
}
