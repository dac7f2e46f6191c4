import { encodeWords } from './encode-words.js';
import { HEADER_LINE, headerField } from './header-field.js';
import { refuseControls } from './refuse-controls.js';

const NAME = 'Subject';
const FIRST_ROOM = HEADER_LINE - `${NAME}: `.length;

/** Printable ASCII in words with one space between two. */
const WORDS = /^[!-~]+(?: [!-~]+)*$/;

/**
 * The subject as it is, or in encoded words where it would not come back as it is: characters outside of
 * ASCII, more than one space in a row, what looks like an encoded word, a word that no line holds.
 */
export function subjectField(subject: string): string {
  refuseControls('the subject', subject);
  if (subject === '') return '';
  return headerField(
    NAME,
    (isPlainSubject(subject) ? subject.split(' ') : encodeWords(subject, FIRST_ROOM)).map(word => [word]),
  );
}

function isPlainSubject(subject: string): boolean {
  if (!WORDS.test(subject) || subject.includes('=?')) return false;
  return subject
    .split(' ')
    .every((word, index) => word.length <= (index === 0 ? FIRST_ROOM : HEADER_LINE - 1));
}
