import { MAX_FILENAME_BYTES } from '../../contract/limits.js';
import { isEmailAddress } from '../../domain/addresses.js';
import { isUsableContentId } from '../../domain/message-ids.js';
import { type FileDescription, isMediaType, type Mailbox, UNKNOWN_TYPE } from '../../domain/message-parts.js';
import { utf8Prefix } from '../../domain/text.js';

/** Characters of a line: the limit with encoded words (RFC 2047 section 2), for all lines. RFC 5322 allows 78. */
const HEADER_LINE = 76;

/** Visible ASCII; spaces only between visible characters. */
const WORD = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * A header field with its line end, folded before a word that does not fit on the line (RFC 5322 section 2.2.3). The
 * words of a group stay on one line if they fit on one. The field is never folded right after its name: some readers
 * take a first line without text for an empty field.
 *
 * All header text is written here, and only visible ASCII and spaces get through: no value can end its line and begin
 * another field.
 * @throws Error for any other character
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

/** Octets of a display name or of one of its encoded words, so that it fits on a line after `From: `. */
const LONGEST_NAME_WORD = 70;

/** Atoms (RFC 5322 section 3.2.3) with one space between two. */
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/**
 * A field of addresses, folded between addresses if possible (RFC 5322 section 3.4). Without addresses it is `""`: the
 * field may not be empty.
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

/** The words of a display name (RFC 5322 section 3.2.5): as it is, quoted, or in encoded words. */
function phrase(name: string): readonly string[] {
  // A name with `=?` is always encoded: readers would decode it, even in quotes.
  const isPlain = /^[ -~]+$/.test(name) && !name.includes('=?');
  if (isPlain && name.length <= LONGEST_NAME_WORD && ATOMS.test(name)) return name.split(' ');
  const written = isPlain ? quoted(name) : '';
  if (isPlain && written.length <= LONGEST_NAME_WORD) return [written];
  return encodeWords(name, LONGEST_NAME_WORD, LONGEST_NAME_WORD);
}

/** Octets that the first line of a subject has room for. */
const FIRST_ROOM = HEADER_LINE - 'Subject: '.length;

/** Printable ASCII in words with one space between two. */
const WORDS = /^[!-~]+(?: [!-~]+)*$/;

/**
 * The subject as it is, or in encoded words when readers would see another one: characters outside ASCII, several
 * spaces in a row, text that looks like an encoded word, a word longer than a line.
 */
export function subjectField(subject: string): string {
  refuseControls('the subject', subject);
  if (subject === '') return '';
  return headerField(
    'Subject',
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
 * The header fields of a file.
 *
 * A part of type `message/...` or `multipart/...` may not be in base64 (RFC 2045 section 6.4). In base64 such a file is
 * sent as `application/octet-stream`; its name still says what it is.
 */
export function fileFields(file: FileDescription, encoding: '7bit' | 'base64'): string {
  const { filename, type, disposition, contentId } = file;
  refuseControls('a file name', filename);
  if (!isMediaType(type)) throw new Error('a file type that did not pass the grammar');
  const isOpaque = encoding === 'base64' && /^(?:message|multipart)\//i.test(type);
  const name = isOpaque && isMessageType(type) ? messageFilename(filename) : filename;
  return [
    headerField('Content-Type', [[`${isOpaque ? UNKNOWN_TYPE : type};`], nameParameter(name)]),
    headerField('Content-Transfer-Encoding', [[encoding]]),
    headerField('Content-Disposition', [[`${disposition};`], ...filenameParameter(name)]),
    contentId === undefined ? '' : contentIdField(contentId),
  ].join('');
}

/** True for a file that is a whole message (RFC 2046 section 5.2.1, RFC 6532 section 3.7). */
export function isMessageType(type: string): boolean {
  return /^message\/(?:rfc822|global)$/i.test(type);
}

/** A name by whose ending a reader takes the file for a message. */
function messageFilename(filename: string): string {
  const ending = '.eml';
  if (filename.toLowerCase().endsWith(ending)) return filename;
  return utf8Prefix(filename, MAX_FILENAME_BYTES - ending.length) + ending;
}

function contentIdField(contentId: string): string {
  if (!isUsableContentId(contentId)) throw new Error('a Content-ID that cannot be transmitted');
  return headerField('Content-ID', [[`<${contentId}>`]]);
}

/** Printable ASCII that no reader takes for an encoded word: it can be quoted. */
function isPlainFilename(filename: string): boolean {
  return /^[ -~]+$/.test(filename) && !filename.includes('=?');
}

/**
 * The `name` parameter of Content-Type, for clients that read nothing else, such as old versions of Outlook. Those do
 * not know RFC 2231 and expect encoded words in the quotes. RFC 2047 section 5 forbids them there, but every widely
 * used client writes them. Clients that know RFC 2231 take the name from Content-Disposition.
 */
function nameParameter(filename: string): readonly string[] {
  if (isPlainFilename(filename)) return [`name=${quoted(filename)}`];
  const room = HEADER_LINE - ' name="'.length - '"'.length;
  const words = encodeWords(filename, room, room);
  return `name="${words.join(' ')}"`.split(' ');
}

/** The `filename` parameter: an ASCII name in quotes, which every client reads; others by RFC 2231 sections 3 and 4. */
function filenameParameter(filename: string): readonly (readonly string[])[] {
  if (isPlainFilename(filename)) return [[`filename=${quoted(filename)}`]];
  const escaped = Array.from(filename.toWellFormed(), escapeCharacter);
  const whole = `filename*=utf-8''${escaped.join('')}`;
  if (whole.length < HEADER_LINE) return [[whole]];
  const pieces: string[] = [];
  let piece = "filename*0*=utf-8''";
  for (const character of escaped) {
    // No character is split, for readers that decode each piece alone. The 2 are the space before and the semicolon.
    if (piece.length + character.length + 2 > HEADER_LINE) {
      pieces.push(`${piece};`);
      piece = `filename*${pieces.length}*=`;
    }
    piece += character;
  }
  return [...pieces, piece].map(text => [text]);
}

/** Escapes more than RFC 2231 section 7 asks for: only characters that every reader takes as they are stay. */
function escapeCharacter(character: string): string {
  if (/[A-Za-z0-9._-]/.test(character)) return character;
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}

/** The longest encoded word (RFC 2047 section 2). */
const LONGEST_ENCODED_WORD = 75;

/** Characters that need no escape in the "Q" encoding, in a display name too (RFC 2047 section 5). */
const PLAIN = /[A-Za-z0-9!*+/-]/;

/**
 * Text as encoded words in UTF-8 (RFC 2047), in "B" or "Q" encoding, whichever is shorter. No character is split
 * between two words (section 5). Spaces are encoded too: readers drop white space between encoded words.
 * @param firstRoom octets that the first word may have
 * @param room octets that each other word may have
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

/** Fills each word with as many characters as fit. */
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

/** A character in the "Q" encoding (RFC 2047 section 4.2). */
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
 * Throws for a value with a line break, NUL or other control. Values from outside have been checked before; this is the
 * last check before transmission. The error names `what` it is, and never shows the value.
 */
function refuseControls(what: string, value: string): void {
  if (/\p{Cc}/u.test(value)) throw new Error(`${what} has control characters`);
}
