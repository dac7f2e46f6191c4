import type {
  MailComposerAlternative,
  MailComposerAttachment,
  MailComposerOptions,
} from 'nodemailer/lib/mail-composer';
import { quoteString } from 'nodemailer/lib/mime-funcs';
import { MAX_FILENAME_BYTES } from '../../contract/limits.js';
import { isUuid } from '../../domain/ids.js';
import { isUsableContentId } from '../../domain/message-ids.js';
import {
  isMediaType,
  type Mailbox,
  type OutgoingFile,
  type ReplyHeaders,
  UNKNOWN_TYPE,
} from '../../domain/message-parts.js';
import { utf8Prefix } from '../../domain/text.js';
import { asBuffer } from '../../lib/bytes.js';
import { inSlices } from '../../lib/slices.js';
import { encodeBase64, encodeText, isTransmittable } from './encode-text.js';
import { addressText, idsText, refuseControls, subjectText } from './header-text.js';
import { compile, write } from './library-composer.js';

/** What the header of a message says. */
export interface OutgoingHeader {
  /** Id of the sent message (UUID): multipart boundaries are made from it. */
  readonly id: string;
  /** Message-ID without angle brackets. */
  readonly messageId: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  readonly from: Mailbox;
  /** There is no field for Bcc, so it can never appear in a message. */
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly subject: string;
  /** As transmitted, with angle brackets; null when the message is not a reply. */
  readonly replyHeaders: ReplyHeaders | null;
  /** Whether a message that answers nothing has its own id in References. */
  readonly mentionsItself: boolean;
}

export interface OutgoingMessage extends OutgoingHeader {
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly OutgoingFile[];
}

/**
 * The message as it is transmitted (RFC 5322, RFC 2045 to 2047, RFC 2231, RFC 2387): CRLF line ends, 7-bit bytes
 * only, no line over 998 octets. nodemailer's MailComposer writes it; what it would get wrong is checked and encoded
 * here before. The same input always gives the same bytes, since a message may have to be composed again after a crash.
 * No value can become another field, part or value. Megabytes are composed in many turns of the event loop.
 * @throws Error for a value that was not checked as its type promises
 */
export async function composeMessage(message: OutgoingMessage): Promise<Buffer> {
  const fields = fieldsOf(message);
  const contents = await inSlices(contentsOf(message));
  const tree = compile({ ...fields, ...contents });
  return write(tree);
}

/**
 * The header as the library takes it.
 * @throws Error for a value that was not checked as its type promises
 */
export function fieldsOf(header: OutgoingHeader): MailComposerOptions {
  const { id, messageId, date, from, to, cc, subject, replyHeaders, mentionsItself } = header;
  if (!isUuid(id)) throw new Error('an id that is no UUID');
  // The year has to have four digits (RFC 5322 section 3.3).
  if (!(date >= 0 && date < Date.UTC(10_000, 0))) throw new Error('a date that no header can hold');
  const ownId = idsText('Message-ID', `<${messageId}>`);
  const inReplyTo = replyHeaders === null ? '' : idsText('In-Reply-To', replyHeaders.inReplyTo);
  const ancestors = replyHeaders === null ? '' : idsText('References', replyHeaders.references);
  return {
    from: addressText([from]),
    to: addressText(to),
    cc: addressText(cc),
    subject: subjectText(subject),
    date: new Date(date),
    messageId: ownId,
    inReplyTo,
    references: replyHeaders === null && mentionsItself ? ownId : ancestors,
    boundaryPrefix: BOUNDARY_PREFIX,
    baseBoundary: id,
  };
}

/**
 * `=_` is impossible in quoted-printable and base64 (RFC 2045 section 6.7), and what contains the id of the message is
 * not sent in 7bit: no body has a line that is a boundary.
 */
const BOUNDARY_PREFIX = '=_';

/** Texts and files, encoded. It yields between steps that take long. */
function* contentsOf({ id, text, html, files }: OutgoingMessage): Generator<void, MailComposerOptions> {
  const attachments: MailComposerAttachment[] = [];
  for (const file of files) attachments.push(yield* attachment(file, html !== null, id));
  const plain = { text: yield* content(text, id), attachments };
  return html === null ? plain : { ...plain, html: yield* content(html, id) };
}

/** A text, encoded as the library takes it. It yields between steps that take long. */
export function* content(text: string, id: string): Generator<void, MailComposerAlternative> {
  const { encoding, body } = yield* encodeText(text, id);
  yield;
  return { content: body, contentTransferEncoding: encoding };
}

/**
 * A file as the library takes it. A part of type `message/...` or `multipart/...` may not be in base64 (RFC 2045 section
 * 6.4). A message goes as it is where no relay has to change it, so that its reader can open it; otherwise such a file is
 * `application/octet-stream`, and its name still says what it is.
 * @param hasHtml whether there is HTML that may show an inline file by its Content-ID
 */
function* attachment(
  file: OutgoingFile,
  hasHtml: boolean,
  id: string,
): Generator<void, MailComposerAttachment> {
  const { type, disposition, contentId } = file;
  refuseControls('a file name', file.filename);
  if (!isMediaType(type)) throw new Error('a file type that did not pass the grammar');
  if (disposition !== 'attachment' && disposition !== 'inline') throw new Error('an unknown disposition');
  const bytes = asBuffer(file.bytes);
  const isMessage = /^message\/(?:rfc822|global)$/i.test(type);
  const isAsItIs = isMessage && !bytes.includes(id) && (yield* isTransmittable(bytes));
  const isOpaque = !isAsItIs && /^(?:message|multipart)\//i.test(type);
  const filename = isMessage && isOpaque ? messageFilename(file.filename) : file.filename;
  return {
    ...named(isOpaque ? UNKNOWN_TYPE : type, disposition, filename),
    ...identified(contentId, hasHtml && disposition === 'inline'),
    contentTransferEncoding: isAsItIs ? '7bit' : 'base64',
    content: isAsItIs ? bytes : yield* encodeBase64(bytes),
  };
}

/** A name by whose ending a reader takes the file for a message. */
function messageFilename(filename: string): string {
  const ending = '.eml';
  if (filename.toLowerCase().endsWith(ending)) return filename;
  return utf8Prefix(filename, MAX_FILENAME_BYTES - ending.length) + ending;
}

/**
 * Type and name. The library also writes the name in encoded words, for clients that do not know RFC 2231, and would
 * leave a name alone that looks like such a word; a run of spaces would become a line of its own. Such names are given
 * as parameters, which are written by RFC 2231 alone.
 */
function named(type: string, disposition: string, filename: string): MailComposerAttachment {
  if (!/=\?| {2}/.test(filename))
    return { filename: filename.toWellFormed(), contentType: type, contentDisposition: disposition };
  const name = quoteString(filename.toWellFormed());
  return {
    filename: false,
    contentType: `${type}; name=${name}`,
    contentDisposition: `${disposition}; filename=${name}`,
  };
}

/** The library puts a file that has a `cid` beside the HTML. */
function identified(contentId: string | undefined, isEmbedded: boolean): MailComposerAttachment {
  if (contentId === undefined) return {};
  if (!isUsableContentId(contentId)) throw new Error('a Content-ID that cannot be transmitted');
  return isEmbedded ? { cid: contentId } : { headers: { 'Content-ID': `<${contentId}>` } };
}
