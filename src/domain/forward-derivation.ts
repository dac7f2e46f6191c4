import type { ParsedMailbox, ReceivedContent } from './content.js';
import { forwardSubject } from './derived-subject.js';
import { fail, ok, type Result } from './errors.js';
import { escapeHtml } from './escape-html.js';
import { type ForwardableFile, type ForwardedFile, forwardedFiles } from './forwarded-files.js';
import { headerAsHtml, headerAsText } from './forwarded-header.js';
import { htmlBodyStart } from './html-body-start.js';
import { htmlToText } from './html-to-text.js';
import { toInstant } from './instants.js';
import type { FileDescription, Mailbox, Recipients } from './submission.js';

/** What is forwarded: the content of a received message, or a sent one by way of `sentAsForwardSource`. */
export interface ForwardSource
  extends Pick<ReceivedContent, 'from' | 'to' | 'cc' | 'subject' | 'date' | 'text' | 'html'> {
  readonly attachments: readonly ForwardableFile[];
}

/** Text, HTML and encoded files of one message together (specification, Sending rule 2). */
const MAX_CONTENT_BYTES = 5 * 1024 * 1024;

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
export function deriveForward(source: ForwardSource, options: ForwardOptions): Result<DerivedForward> {
  const files = options.includeAttachments ? forwardedFiles(source.attachments) : ok([]);
  if (!files.ok) return files;
  // At least a byte for each unit. What could not be sent is not worked on.
  if ((source.text ?? '').length + (source.html ?? '').length > MAX_CONTENT_BYTES) {
    return fail(
      'message_too_large',
      'The text and HTML of the original are over 5 MiB, the most that a message may have; quote what matters in a message of your own instead.',
    );
  }
  const note = (options.note ?? '').trim() === '' ? null : options.note;
  return ok({
    subject: forwardSubject(source.subject),
    text: forwardedText(source, note),
    html: source.html === null ? null : forwardedHtml(source, source.html, note),
    files: files.value,
  });
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
