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
  fileEnding,
  isMediaType,
  type Mailbox,
  type Recipients,
  UNKNOWN_TYPE,
} from './message-parts.js';
import { forwardSubject } from './reply.js';
import { cleanText, escapeHtml, safeFilename } from './text.js';

/** What is forwarded: the content of a received message, or a sent one by way of `sentAsForwardSource`. */
export interface ForwardSource
  extends Pick<ReceivedContent, 'from' | 'to' | 'cc' | 'subject' | 'date' | 'text' | 'html'> {
  readonly attachments: readonly ForwardableFile[];
}

/** What the sender of a forward may say about it. */
export interface ForwardOptions {
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
 * The message that a forward is, but for its recipients (specification, ForwardInput rules 3 to 5; wire
 * contract 3.14): note, header block, and the original as it is stored, quoted history included. An
 * original that has only HTML gets a text beside it. It answers nothing, so it has no reply headers.
 * @returns `message_too_large` or `invalid_message` for files that cannot be forwarded, and `message_too_large`
 *   for bodies that are too long by themselves: with the files the caller has to add up what comes of it
 */
export function deriveForward(source: ForwardSource, options: ForwardOptions): DerivedForward {
  const files = options.includeAttachments ? forwardedFiles(source.attachments) : [];
  // At least a byte for each unit. What could not be sent is not worked on.
  if ((source.text ?? '').length + (source.html ?? '').length > MAX_MESSAGE_BYTES) {
    throw refuse(
      'message_too_large',
      'The text and HTML of the original are over 5 MiB, the most that a message may have; quote what matters in a message of your own instead.',
    );
  }
  const note = (options.note ?? '').trim() === '' ? null : options.note;
  return {
    subject: forwardSubject(source.subject),
    text: forwardedText(source, note),
    html: source.html === null ? null : forwardedHtml(source, source.html, note),
    files,
  };
}

function forwardedText(source: ForwardSource, note: string | null): string {
  const original = source.text ?? (source.html === null ? '' : htmlToText(source.html));
  return [
    ...(note === null ? [] : [note]),
    headerAsText(source),
    ...(original === '' ? [] : [original]),
  ].join('\n\n');
}

/** Note and header block stand where the visible part of the original begins, be it a whole document or not. */
function forwardedHtml(source: ForwardSource, html: string, note: string | null): string {
  const start = htmlBodyStart(html);
  const noteParagraph = note === null ? [] : [`<p>${escapeHtml(note).replace(/\r\n?|\n/g, '<br>\n')}</p>`];
  const before = start === 0 ? [] : [html.slice(0, start)];
  return [...before, ...noteParagraph, headerAsHtml(source), html.slice(start)].join('\n');
}

/** A sent message as it is kept. */
export interface SentSource extends Pick<Recipients, 'to' | 'cc'> {
  readonly from: Mailbox;
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly (FileDescription & { readonly id: string })[];
}

/** A sent message in the form of a received one. */
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

/** What a forward has to know of a file of the original. */
export type ForwardableFile = Omit<ReceivedAttachment, 'size'>;

export interface ForwardedFile extends FileDescription {
  /** Id of the file in the original, whose bytes it has. */
  readonly sourceId: string;
}

/**
 * The files of a forward (specification, ForwardInput rule 5): all of the original, in their order, with
 * names and types that are safe to transmit. One that stands inline or in a `multipart/related` keeps the
 * Content-ID by which the HTML shows it.
 * @returns `message_too_large` for more files than a message may have, `invalid_message` for an embedded
 *   one with a Content-ID that cannot be given again
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
    const type = isMediaType(file.mime_type) ? file.mime_type : UNKNOWN_TYPE;
    const isInline = file.disposition === 'inline' || (file.related && contentId !== null);
    forwarded.push({
      sourceId: file.id,
      filename: safeFilename(file.filename ?? '') ?? `attachment-${index + 1}.${fileEnding(type)}`,
      type,
      disposition: isInline ? 'inline' : 'attachment',
      ...(isUsable ? { contentId } : {}),
    });
  }
  return forwarded;
}

/** What a forward says of the message in it. Bcc is not among it (specification, ForwardInput rule 3). */
type ForwardedHeader = Pick<ReceivedContent, 'from' | 'date' | 'subject' | 'to' | 'cc'>;

const TITLE = '---------- Forwarded message ----------';

/** The header block in plain text, without a line end after it. */
function headerAsText(header: ForwardedHeader): string {
  return [TITLE, ...fieldsOf(header).map(([name, value]) => `${name}: ${value}`)].join('\n');
}

function headerAsHtml(header: ForwardedHeader): string {
  const fields = fieldsOf(header).map(([name, value]) => `<b>${name}:</b> ${escapeHtml(value)}`);
  return `<p>${[TITLE, ...fields].join('<br>\n')}</p>`;
}

/** Name and value of each line, none of which can pass for another one: a value is one line. */
function fieldsOf({ from, date, subject, to, cc }: ForwardedHeader): readonly (readonly [string, string])[] {
  return [
    ['From', from === null ? '(unknown)' : addressText(from)],
    ...(date === null ? [] : [['Date', dateText(date)] as const]),
    ['Subject', cleanText(subject ?? '') || '(no subject)'],
    ...(to.length === 0 ? [] : [['To', to.map(addressText).join(', ')] as const]),
    ...(cc.length === 0 ? [] : [['Cc', cc.map(addressText).join(', ')] as const]),
  ];
}

/** As parsing gives it: an instant, or the header as it was written. */
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

/** In quotes where it has a character that separates addresses or makes one: a name must not read as an address. */
function nameText(name: string): string {
  const text = cleanText(name);
  return /[<>@,;:"]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}
