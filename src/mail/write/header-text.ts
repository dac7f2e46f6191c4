import { encodeWord, quoteString } from 'nodemailer/lib/mime-funcs';
import { isEmailAddress } from '../../domain/addresses.js';
import { isUsableMessageId } from '../../domain/message-ids.js';
import type { Mailbox } from '../../domain/message-parts.js';

/**
 * Header text that is given to the library as it is to be read. Each function checks its value for the last time, so
 * that none can end its line and begin another field, and encodes what a reader would take for something else.
 */

/** Octets of a word that fits on a line behind `Subject: `. */
const LONGEST_WORD = 66;

/** Octets of an encoded word; RFC 2047 section 2 allows 75. */
const LONGEST_ENCODED_WORD = 52;

/** Words of visible ASCII with one space between two, none too long for a line; text with `=?` looks encoded. */
const PLAIN = new RegExp(`^(?!.*=\\?)[!-~]{1,${LONGEST_WORD}}(?: [!-~]{1,${LONGEST_WORD}})*$`);

/** Atoms (RFC 5322 section 3.2.3). */
const ATOMS = /^[\w!#$%&'*+/=?^`{|}~ -]+$/;

/** Addresses with their names, as they are given (RFC 5322 section 3.4). */
export function addressText(mailboxes: readonly Mailbox[]): string {
  return mailboxes
    .map(({ address, name = '' }) => {
      if (!isEmailAddress(address)) throw new Error('an address that did not pass the grammar');
      return name === '' ? address : `${phrase(name)} <${address}>`;
    })
    .join(', ');
}

/** A display name (RFC 5322 section 3.2.5): as it is, quoted, or in encoded words. */
function phrase(name: string): string {
  refuseControls('a display name', name);
  if (!PLAIN.test(name)) return encodeWords(name);
  return ATOMS.test(name) ? name : quoteString(name);
}

/** The subject as it is, or in encoded words. */
export function subjectText(subject: string): string {
  refuseControls('the subject', subject);
  return subject === '' || PLAIN.test(subject) ? subject : encodeWords(subject);
}

/** Ids in angle brackets, as they are given. */
export function idsText(name: string, text: string): string {
  for (const id of text.split(' ')) {
    if (!/^<.*>$/.test(id) || !isUsableMessageId(id.slice(1, -1))) throw new Error(`${name}: no usable id`);
  }
  return text;
}

/** Text as encoded words in UTF-8 (RFC 2047), in "B" or "Q" encoding, whichever is shorter. */
function encodeWords(text: string): string {
  const [quoted, base64] = ['Q', 'B'].map(encoding =>
    encodeWord(text.toWellFormed(), encoding, LONGEST_ENCODED_WORD),
  ) as [string, string];
  return base64.length < quoted.length ? base64 : quoted;
}

/**
 * Throws for a value with a line break, NUL or other control. Values from outside have been checked before; this is the
 * last check before transmission. The error names `what` it is, and never shows the value.
 */
export function refuseControls(what: string, value: string): void {
  if (/\p{Cc}/u.test(value)) throw new Error(`${what} has control characters`);
}
