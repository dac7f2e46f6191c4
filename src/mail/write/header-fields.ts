import { isEmailAddress } from '../../domain/addresses.js';
import { isUsableContentId } from '../../domain/message-ids.js';
import { type FileDescription, isMediaType, type Mailbox, UNKNOWN_TYPE } from '../../domain/message-parts.js';

/** RFC 2047 section 2 for lines with encoded words, and within the 78 of RFC 5322 section 2.1.1 for the others. */
const HEADER_LINE = 76;

const WORD = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * A header field with its line end, folded before whatever does not fit its line (RFC 5322 section 2.2.3).
 * The words of a group stay on one line where that holds them all. There is no fold behind the name: a first
 * line without text has been taken for an empty field.
 *
 * This is the one place where header text is put together: nothing but visible ASCII and single spaces
 * between words gets through, so that no value can end its line and begin another field.
 */
export function headerField(name: string, groups: readonly (readonly string[])[]): string {
  let field = `${name}:`;
  let column = field.length;
  let isFirst = true;
  const add = (text: string): void => {
    const fits = isFirst || column + 1 + text.length <= HEADER_LINE;
    field += fits ? ` ${text}` : `\r\n ${text}`;
    column = fits ? column + 1 + text.length : 1 + text.length;
    isFirst = false;
  };
  for (const group of groups) {
    for (const word of group) if (!WORD.test(word)) throw new Error(`${name}: text that no header may hold`);
    const text = group.join(' ');
    const isWhole = 1 + text.length <= HEADER_LINE && (!isFirst || column + 1 + text.length <= HEADER_LINE);
    if (isWhole) add(text);
    else group.forEach(add);
  }
  return `${field}\r\n`;
}

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

/**
 * The header fields of a file, which is sent in base64.
 *
 * Messages and multiparts may not be (RFC 2045 section 6.4): a relay would have to look into them, and what
 * it must not encode it may change. So they go as bytes of no known type, whose name says what they are.
 */
export function fileFields(file: FileDescription): string {
  const { filename, type, disposition, contentId } = file;
  refuseControls('a file name', filename);
  if (!isMediaType(type)) throw new Error('a file type that did not pass the grammar');
  const sentType = /^(?:message|multipart)\//i.test(type) ? UNKNOWN_TYPE : type;
  return [
    headerField('Content-Type', [[`${sentType};`], nameParameter(filename)]),
    headerField('Content-Transfer-Encoding', [['base64']]),
    headerField('Content-Disposition', [[`${disposition};`], ...filenameParameter(filename)]),
    contentId === undefined ? '' : contentIdField(contentId),
  ].join('');
}

function contentIdField(contentId: string): string {
  if (!isUsableContentId(contentId)) throw new Error('a Content-ID that cannot be transmitted');
  return headerField('Content-ID', [[`<${contentId}>`]]);
}

/** What can stand in quotes: some readers would decode what looks like an encoded word there. */
function isPlainFilename(filename: string): boolean {
  return /^[ -~]+$/.test(filename) && !filename.includes('=?');
}

/**
 * The name once more, for clients that look here alone: old Outlooks, which do not know RFC 2231 either and
 * want encoded words in the quotes. RFC 2047 section 5 forbids those, and every widely used client writes
 * them here; who reads RFC 2231 takes the name from Content-Disposition.
 */
function nameParameter(filename: string): readonly string[] {
  if (isPlainFilename(filename)) return [`name=${quoted(filename)}`];
  const room = HEADER_LINE - ' name="'.length - '"'.length;
  const words = encodeWords(filename, room, room);
  return `name="${words.join(' ')}"`.split(' ');
}

/** A name of ASCII in quotes, which everybody reads; any other by RFC 2231 sections 3 and 4. */
function filenameParameter(filename: string): readonly (readonly string[])[] {
  if (isPlainFilename(filename)) return [[`filename=${quoted(filename)}`]];
  const escaped = Array.from(filename.toWellFormed(), escapeCharacter);
  const whole = `filename*=utf-8''${escaped.join('')}`;
  if (whole.length < HEADER_LINE) return [[whole]];
  const pieces: string[] = [];
  let piece = "filename*0*=utf-8''";
  for (const character of escaped) {
    // Not inside a character, for readers that decode piece by piece; a semicolon and the space before count too.
    if (piece.length + character.length + 2 > HEADER_LINE) {
      pieces.push(`${piece};`);
      piece = `filename*${pieces.length}*=`;
    }
    piece += character;
  }
  return [...pieces, piece].map(text => [text]);
}

/** All but the attribute characters of RFC 2231 section 7, and of those the ones that everybody takes for such. */
function escapeCharacter(character: string): string {
  if (/[A-Za-z0-9._-]/.test(character)) return character;
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}

/** The longest encoded word (RFC 2047 section 2). */
const LONGEST_ENCODED_WORD = 75;

/** What may stand for itself in the "Q" encoding: in a display name these alone (RFC 2047 section 5), elsewhere too. */
const PLAIN = /[A-Za-z0-9!*+/-]/;

/**
 * Text as encoded words in UTF-8 (RFC 2047), in the shorter one of both encodings; each holds whole characters
 * (section 5). White space between neighbours counts for nothing, so that every space has to be in one.
 * @param firstRoom octets for the first word
 * @param room octets for each of the others
 */
export function encodeWords(
  text: string,
  firstRoom = LONGEST_ENCODED_WORD,
  room = LONGEST_ENCODED_WORD,
): readonly string[] {
  const characters = Array.from(text.toWellFormed());
  const quoted = fill(characters, 'Q', firstRoom, room);
  const base64 = fill(characters, 'B', firstRoom, room);
  return base64.join(' ').length < quoted.join(' ').length ? base64 : quoted;
}

/** Puts as many characters into each word as it holds. */
function fill(
  characters: readonly string[],
  encoding: 'B' | 'Q',
  firstRoom: number,
  room: number,
): readonly string[] {
  const words: string[] = [];
  let content = '';
  let size = 0;
  const close = (): void => {
    words.push(
      `=?utf-8?${encoding}?${encoding === 'B' ? Buffer.from(content).toString('base64') : content}?=`,
    );
    content = '';
    size = 0;
  };
  for (const character of characters) {
    const piece = encoding === 'B' ? character : quote(character);
    const pieceSize = encoding === 'B' ? Buffer.byteLength(character) : piece.length;
    const space =
      Math.min(LONGEST_ENCODED_WORD, words.length === 0 ? firstRoom : room) - '=?utf-8?B??='.length;
    const taken = size + pieceSize;
    if (size > 0 && (encoding === 'B' ? Math.ceil(taken / 3) * 4 : taken) > space) close();
    content += piece;
    size += pieceSize;
  }
  if (size > 0) close();
  return words;
}

/** RFC 2047 section 4.2. */
function quote(character: string): string {
  if (character === ' ') return '_';
  if (PLAIN.test(character)) return character;
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '=$&');
}

/** Printable ASCII as a quoted string (RFC 5322 section 3.2.4). */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Throws for a value with a line break, NUL or other control: the caller has checked values that come from
 * outside, and one that would end its line does not go on the wire. `what` is named, the value is not.
 */
function refuseControls(what: string, value: string): void {
  if (/\p{Cc}/u.test(value)) throw new Error(`${what} has control characters`);
}
