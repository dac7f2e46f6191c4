import { isEmailAddress } from '../domain/email-address.js';
import type { Mailbox } from '../domain/submission.js';
import { encodeWords } from './encode-words.js';
import { headerField } from './header-field.js';
import { quoted } from './quoted-string.js';
import { refuseControls } from './refuse-controls.js';

/** Octets of a name, or of one encoded word of it: fits a line behind `From: ` as in the middle of a list. */
const LONGEST_NAME_WORD = 70;

/** A phrase of atoms (RFC 5322 section 3.2.3) with one space between two. */
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/**
 * A field of addresses, folded between two of them where possible (RFC 5322 section 3.4); `""` for none, since
 * the field may not be empty.
 */
export function addressField(name: 'From' | 'To' | 'Cc', mailboxes: readonly Mailbox[]): string {
  if (mailboxes.length === 0) return '';
  const last = mailboxes.length - 1;
  return headerField(
    name,
    mailboxes.map((mailbox, index) => mailboxWords(mailbox, index < last ? ',' : '')),
  );
}

function mailboxWords({ address, name = '' }: Mailbox, separator: string): readonly string[] {
  if (!isEmailAddress(address)) throw new Error('an address that did not pass the grammar');
  refuseControls('a display name', name);
  return name === '' ? [address + separator] : [...phrase(name), `<${address}>${separator}`];
}

/** A display name (RFC 5322 section 3.2.5): as it is, in quotes, or in encoded words. */
function phrase(name: string): readonly string[] {
  // Atoms may look like an encoded word, and quotes do not keep readers from decoding one.
  const isPlain = /^[ -~]+$/.test(name) && !name.includes('=?');
  if (isPlain && name.length <= LONGEST_NAME_WORD && ATOMS.test(name)) return name.split(' ');
  const written = isPlain ? quoted(name) : '';
  if (isPlain && written.length <= LONGEST_NAME_WORD) return [written];
  return encodeWords(name, LONGEST_NAME_WORD, LONGEST_NAME_WORD);
}
