import { MAX_FILES, MAX_MESSAGE_BYTES } from '../contract/limits.js';
import type {
  ParsedAddress,
  ParsedMailbox,
  ReceivedAttachment,
  ReceivedContent,
} from '../contract/messages.js';
import { refuse } from './errors.js';
import { htmlBodyStart, htmlToText } from './html/html-to-text.js';
import { toInstant, toMailDate } from './instants.js';
import { isUsableContentId } from './message-ids.js';
import {
  type FileDescription,
  fileExtension,
  isMediaType,
  type Mailbox,
  type Recipients,
  UNKNOWN_TYPE,
} from './message-parts.js';
import { forwardSubject } from './reply.js';
import { cleanText, escapeHtml, isVisible, safeFilename } from './text.js';

/** The message that is forwarded: the content of a received one, or a sent one through `sentAsForwardSource`. */
export interface ForwardSource
  extends Pick<ReceivedContent, 'from' | 'to' | 'cc' | 'subject' | 'date' | 'text' | 'html'> {
  readonly attachments: readonly ForwardableFile[];
}

/** What an agent can choose about a forward. */
export interface ForwardOptions {
  /** Text before the original; null or blank for none. */
  readonly note: string | null;
  readonly includeAttachments: boolean;
}

export interface DerivedForward {
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly ForwardedFile[];
}

/**
 * The subject, bodies and files of a forward (`forwardMessage`): the note, a block of header fields, and the whole
 * original with its quoted history. When the original has only HTML, the text is made from it. It yields after each short
 * piece of work.
 * @throws `message_too_large` or `invalid_message` for files that cannot be forwarded; `message_too_large` for bodies
 *   over `MAX_MESSAGE_BYTES`. The caller still has to check bodies and files together (`checkContentSize`)
 */
export function* deriveForward(
  source: ForwardSource,
  options: ForwardOptions,
): Generator<void, DerivedForward> {
  const files = options.includeAttachments ? forwardedFiles(source.attachments) : [];
  // Each UTF-16 unit takes at least one byte. Checked first, so that no time is spent on what cannot be sent.
  if (
    (options.note ?? '').length + (source.text ?? '').length + (source.html ?? '').length >
    MAX_MESSAGE_BYTES
  ) {
    throw refuse(
      'message_too_large',
      'The text and HTML of the original, with the note, are over 5 MiB, the most that a message may have; quote what matters in a message of your own instead.',
    );
  }
  const note = (options.note ?? '').trim() === '' ? null : options.note;
  return {
    subject: forwardSubject(source.subject),
    text: yield* forwardedText(source, note),
    html: source.html === null ? null : yield* forwardedHtml(source, source.html, note),
    files,
  };
}

function* forwardedText(source: ForwardSource, note: string | null): Generator<void, string> {
  const original = yield* wordsOf(source);
  return [
    ...(note === null ? [] : [note]),
    headerAsText(source),
    ...(original === '' ? [] : [original]),
  ].join('\n\n');
}

/** The text of the original; where nothing of it could be seen, that of its HTML, if there is any. */
function* wordsOf({ text, html }: ForwardSource): Generator<void, string> {
  const isReadable = html === null || (text !== null && (yield* isVisible(text)));
  const fromHtml = isReadable ? '' : yield* htmlToText(html);
  return fromHtml || (text ?? '');
}

/** Puts note and header block where the visible part of the original begins. */
function* forwardedHtml(source: ForwardSource, html: string, note: string | null): Generator<void, string> {
  const start = yield* htmlBodyStart(html);
  const noteParagraph = note === null ? [] : [`<p>${yield* noteAsHtml(note)}</p>`];
  const before = start === 0 ? [] : [html.slice(0, start)];
  return [...before, ...noteParagraph, headerAsHtml(source), html.slice(start)].join('\n');
}

/** Characters of a note between two pauses. */
const NOTE_PIECE = 16 * 1024;

function* noteAsHtml(note: string): Generator<void, string> {
  let html = '';
  for (let at = 0; at < note.length; ) {
    let end = at + NOTE_PIECE;
    if (note[end - 1] === '\r' && note[end] === '\n') end++;
    html += escapeHtml(note.slice(at, end)).replace(/\r\n?|\n/g, '<br>\n');
    at = end;
    yield;
  }
  return html;
}

/** A sent message as it is stored. */
export interface SentSource extends Pick<Recipients, 'to' | 'cc'> {
  readonly from: Mailbox;
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly (FileDescription & { readonly id: string })[];
}

/** Gives a sent message the form of a received one. */
export function sentAsForwardSource(sent: SentSource): ForwardSource {
  return {
    from: asParsed(sent.from),
    to: sent.to.map(asParsed),
    cc: sent.cc.map(asParsed),
    subject: sent.subject,
    date: toInstant(sent.date),
    text: sent.text,
    html: sent.html,
    attachments: sent.files.map(({ id, filename, type, disposition, contentId }) => ({
      id,
      filename,
      mime_type: type,
      disposition,
      content_id: contentId ?? null,
      related: disposition === 'inline' && contentId !== undefined,
    })),
  };
}

function asParsed({ address, name }: Mailbox): ParsedMailbox {
  return { address, name: name ?? '' };
}

/** What has to be known about a file of the original. */
export type ForwardableFile = Omit<ReceivedAttachment, 'size'>;

export interface ForwardedFile extends FileDescription {
  /** Id of the file in the original; the forward has the same bytes. */
  readonly sourceId: string;
}

/**
 * The files of a forward: all files of the original, in their order, with names and types that are safe to transmit.
 * A file that is inline or in a `multipart/related` keeps its Content-ID, since the HTML refers to it.
 * @throws `message_too_large` for more than `MAX_FILES`; `invalid_message` for an embedded file whose Content-ID
 *   cannot be written to a header again
 */
export function forwardedFiles(files: readonly ForwardableFile[]): readonly ForwardedFile[] {
  if (files.length > MAX_FILES) {
    throw refuse(
      'message_too_large',
      `The original has ${files.length} attachments, and ${MAX_FILES} is the most; forward it with include_attachments: false.`,
    );
  }
  const forwarded: ForwardedFile[] = [];
  for (const [index, file] of files.entries()) {
    const isEmbedded = file.related || file.disposition === 'inline';
    const contentId = file.content_id;
    const isUsable = contentId !== null && isUsableContentId(contentId);
    if (isEmbedded && contentId !== null && !isUsable) {
      throw refuse(
        'invalid_message',
        `Attachment ${index + 1} of the original is embedded by a Content-ID that cannot be transmitted; forward it with include_attachments: false.`,
      );
    }
    const isInline = file.disposition === 'inline' || (file.related && contentId !== null);
    forwarded.push({
      sourceId: file.id,
      ...safeNameAndType(file, `attachment-${index + 1}`),
      disposition: isInline ? 'inline' : 'attachment',
      ...(isUsable ? { contentId } : {}),
    });
  }
  return forwarded;
}

/**
 * The name and type of a file of a received message, safe to transmit.
 * @param nameless its name, without an extension, when it has none that is safe
 */
export function safeNameAndType(
  { filename, mime_type }: Pick<ForwardableFile, 'filename' | 'mime_type'>,
  nameless = 'attachment',
): Pick<FileDescription, 'filename' | 'type'> {
  const type = isMediaType(mime_type) ? mime_type : UNKNOWN_TYPE;
  return { filename: safeFilename(filename ?? '') ?? `${nameless}.${fileExtension(type)}`, type };
}

/** Header fields that are shown above the original. Bcc is left out: its recipients were hidden from the others. */
type ForwardedHeader = Pick<ReceivedContent, 'from' | 'date' | 'subject' | 'to' | 'cc'>;

const TITLE = '---------- Forwarded message ----------';

/** The header block in plain text, without a line end at its end. */
function headerAsText(header: ForwardedHeader): string {
  return [TITLE, ...fieldsOf(header).map(([name, value]) => `${name}: ${value}`)].join('\n');
}

function headerAsHtml(header: ForwardedHeader): string {
  const fields = fieldsOf(header).map(([name, value]) => `<b>${name}:</b> ${escapeHtml(value)}`);
  return `<p>${[TITLE, ...fields].join('<br>\n')}</p>`;
}

/** Name and value of each line. A value never has a line break, so it cannot imitate another field. */
function fieldsOf({ from, date, subject, to, cc }: ForwardedHeader): readonly (readonly [string, string])[] {
  return [
    ['From', from === null ? '(unknown)' : addressText(from)],
    ...(date === null ? [] : [['Date', dateText(date)] as const]),
    ['Subject', cleanText(subject ?? '') || '(no subject)'],
    ...(to.length === 0 ? [] : [['To', to.map(addressText).join(', ')] as const]),
    ...(cc.length === 0 ? [] : [['Cc', cc.map(addressText).join(', ')] as const]),
  ];
}

/** Date as the parser gives it: ISO 8601, or the header text when that could not be read. */
function dateText(date: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? cleanText(date) : toMailDate(ms);
}

function addressText(address: ParsedAddress): string {
  return 'group' in address
    ? `${nameText(address.name)}: ${address.group.map(mailboxText).join(', ')};`
    : mailboxText(address);
}

function mailboxText({ name, address }: ParsedMailbox): string {
  const bare = cleanText(address);
  if (cleanText(name) === '') return bare;
  return bare === '' ? nameText(name) : `${nameText(name)} <${bare}>`;
}

/** A name, quoted when it has characters of address syntax: it must not read as an address. */
function nameText(name: string): string {
  const text = cleanText(name);
  return /[<>@,;:"]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}
