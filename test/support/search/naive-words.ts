import { type MessageWords, splitFields } from '../../../src/domain/message-words.js';
import type { SearchTerm } from '../../../src/domain/search-words.js';

/** Are all terms found, each in at least one of the fields? As `hasTerms` says, word by word. */
export function fits(fields: readonly (readonly string[])[], terms: readonly SearchTerm[]): boolean {
  return terms.every(term => fields.some(field => hasTerm(field, term)));
}

function hasTerm(field: readonly string[], { words, isPrefix }: SearchTerm): boolean {
  const lastPlace = words.length - 1;
  const first = words[0] ?? '';
  if (lastPlace === 0 && !isPrefix) return field.includes(first);
  for (let at = 0; at + lastPlace < field.length; at += 1) {
    if (isTermAt(field, at, words, isPrefix)) return true;
  }
  return false;
}

function isTermAt(
  field: readonly string[],
  at: number,
  words: readonly string[],
  isPrefix: boolean,
): boolean {
  return words.every((asked, place) => {
    const there = field[at + place];
    return there === asked || (isPrefix && place === words.length - 1 && there?.startsWith(asked) === true);
  });
}

/** The reverse of `joinWords`. */
export function splitWords(joined: string): MessageWords {
  const { subject, body } = splitFields(joined);
  return { subject: subject === '' ? [] : subject.split(' '), body: body === '' ? [] : body.split(' ') };
}
