import fc from 'fast-check';
import { isEmailAddress } from '../../../../src/domain/addresses.js';
import { resultOf } from '../../../../src/domain/errors.js';
import type { Mailbox, OutgoingFile } from '../../../../src/domain/message-parts.js';
import { normaliseName, safeFilename, utf8Prefix } from '../../../../src/domain/text.js';
import type { OutgoingMessage } from '../../../../src/mail/write/compose-message.js';

/** A minimal message, for tests of one property. */
export function outgoing(changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    id: '0190a3a0-0000-7000-8000-000000000001',
    messageId: '0190a3a0-0000-7000-8000-000000000001@example.org',
    date: Date.UTC(2026, 10, 28, 2, 13),
    from: { address: 'agent@example.org' },
    to: [{ address: 'ann@a.example' }],
    cc: [],
    subject: 'Hello',
    text: 'Hello',
    html: null,
    replyHeaders: null,
    mentionsItself: false,
    files: [],
    ...changes,
  };
}

/** Pieces of header and MIME syntax, to be mixed into arbitrary text. */
const TRICKS = [
  '=?utf-8?Q?x?=',
  '=?',
  '?=',
  '"',
  '\\',
  '<b@c.example>',
  ',',
  ';',
  ':',
  '(',
  ')',
  '@',
  '%20',
  "''",
  '  ',
];
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 12 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 3, arbitrary: fc.constantFrom(...TRICKS) },
);

function textOf(maxPieces: number): fc.Arbitrary<string> {
  return fc.array(piece, { maxLength: maxPieces, size: 'max' }).map(pieces => pieces.join(''));
}

function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, '');
}

const name = textOf(20).map(text => {
  const usable = resultOf(() => normaliseName('name', withoutControls(text).toWellFormed()));
  return usable.ok ? usable.value : null;
});

const address = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(\.[a-zA-Z0-9=?_]{1,40})?$/),
    fc.stringMatching(/^[a-z0-9]{1,30}(\.[a-z0-9]{1,60}){0,3}$/),
  )
  .map(([local, domain]) => `${local}@${domain}`)
  .filter(isEmailAddress);

export const mailbox: fc.Arbitrary<Mailbox> = fc
  .tuple(address, name)
  .map(([address, name]) => (name === null ? { address } : { address, name }));

/** At most 998 bytes of UTF-8, not blank, without controls. */
export const subject = fc
  .oneof(textOf(8), textOf(80))
  .map(text =>
    Buffer.from(withoutControls(text))
      .subarray(0, 998)
      .toString()
      .replace(/\ufffd+$/, ''),
  )
  .map(text => (text.trim() === '' ? `${text}x` : text))
  .map(text => (Buffer.byteLength(text) > 998 ? text.slice(0, 300) : text));

const line = fc.oneof(
  piece,
  fc.constantFrom(
    '.',
    '..',
    'From me',
    '>From',
    ' ',
    '\t',
    'end ',
    '--',
    'a\ttab',
    '\0',
    '\u2028',
    '\x7f',
    '=',
    '=3D',
  ),
  fc.string({ unit: fc.constantFrom('a', ' ', 'é', '=', '.'), minLength: 60, maxLength: 200 }),
);
const lineEnd = fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\r\r\n', '');

/** Text with lines of many lengths and all kinds of line ends. */
export const bodyText = fc
  .array(fc.tuple(line, lineEnd), { maxLength: 20 })
  .map(lines => lines.flat().join(''));

const type = fc.oneof(
  fc.constantFrom('application/pdf', 'text/plain', 'text/html', 'image/PNG', 'application/octet-stream'),
  fc.constantFrom('message/rfc822', 'multipart/mixed', 'message/delivery-status'),
  fc.stringMatching(/^[A-Za-z0-9!#$&^_.+-]{1,40}\/[A-Za-z0-9!#$&^_.+-]{1,60}$/),
);
const contentId = fc.oneof(
  fc.stringMatching(/^[!-;=?-~]{1,60}$/),
  fc.constantFrom('image001.png@01D1', 'ii_abc', 'name=x', 'filename*0=x', 'i'.repeat(300)),
);
/** File names that an agent may give. */
const givenName = textOf(20)
  .map(text => withoutControls(text).replace(/[/\\]/g, '').toWellFormed())
  .filter(text => text !== '' && Buffer.byteLength(text) <= 255);
const safeName = givenName.map(text => safeFilename(text) ?? 'unnamed.bin');
const bytes = fc.uint8Array({ maxLength: 400, size: 'max' });

export const file: fc.Arbitrary<OutgoingFile> = fc.oneof(
  fc.record({ filename: givenName, type, disposition: fc.constant('attachment' as const), bytes }),
  fc.record({ filename: safeName, type, disposition: fc.constant('inline' as const), bytes }),
  fc.record({
    filename: safeName,
    type,
    disposition: fc.constantFrom('inline' as const, 'attachment' as const),
    contentId,
    bytes,
  }),
);

const messageId = fc.stringMatching(/^[!-;=?-~]{1,60}$/);
const replyHeaders = fc.array(messageId, { minLength: 1, maxLength: 15 }).map(ids => ({
  inReplyTo: `<${ids.at(-1)}>`,
  references: ids.map(id => `<${id}>`).join(' '),
}));

export const message: fc.Arbitrary<OutgoingMessage> = fc.record({
  id: fc.uuid(),
  messageId,
  date: fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
  from: mailbox,
  to: fc.array(mailbox, { maxLength: 6 }),
  cc: fc.array(mailbox, { maxLength: 6 }),
  subject,
  text: bodyText,
  html: fc.option(bodyText),
  replyHeaders: fc.option(replyHeaders),
  mentionsItself: fc.boolean(),
  files: fc.array(file, { maxLength: 4 }),
});

/** A body as a reader sees it: well-formed, LF line ends, and one at the end unless it is empty. */
export function asRead(text: string): string {
  const lines = text.toWellFormed().replace(/\r\n?/g, '\n');
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
}

/** The files in the order of transmission: embedded ones come first, with the HTML. */
export function inOrder(
  message: OutgoingMessage,
): readonly (OutgoingFile & { readonly isEmbedded: boolean })[] {
  const files = message.files.map(file => ({
    ...file,
    isEmbedded: message.html !== null && file.disposition === 'inline' && file.contentId !== undefined,
  }));
  return [...files.filter(one => one.isEmbedded), ...files.filter(one => !one.isEmbedded)];
}

/** The References that a message is sent with. */
export function referencesOf({ replyHeaders, mentionsItself, messageId }: OutgoingMessage): string | null {
  return replyHeaders?.references ?? (mentionsItself ? `<${messageId}>` : null);
}

/** True for a file that goes as it is: a message of short lines of ASCII that end in CRLF. */
export function goesAsItIs({ type, bytes }: OutgoingFile): boolean {
  const lines = /^(?:[\x01-\x09\x0b\x0c\x0e-\x7f]{0,998}\r\n)*[\x01-\x09\x0b\x0c\x0e-\x7f]{0,998}$/;
  return /^message\/rfc822$/i.test(type) && lines.test(Buffer.from(bytes).toString('latin1'));
}

/**
 * Name and type that a file is sent with: messages and multiparts may not be in base64, so that they are
 * `application/octet-stream` there, and a message is known by the ending of its name.
 */
export function fileAsRead(file: OutgoingFile): { readonly filename: string; readonly type: string } {
  const { filename, type } = file;
  if (goesAsItIs(file) || !/^(message|multipart)\//i.test(type))
    return { filename, type: type.toLowerCase() };
  const isNamed = /\.eml$/i.test(filename) || !/^message\/rfc822$/i.test(type);
  return {
    filename: isNamed ? filename : `${utf8Prefix(filename, 251)}.eml`,
    type: 'application/octet-stream',
  };
}
