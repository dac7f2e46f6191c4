import { attributeHtml, attributeText } from '../domain/attribution.js';
import { fail, ok, type Result } from '../domain/errors.js';
import type { MessageId } from '../domain/ids.js';
import type { FileInput } from '../domain/normalise-files.js';
import { contentBytes, MAX_MESSAGE_BYTES } from '../domain/normalise-submission.js';
import type { FileDescription, Mailbox, Recipients, ReplyHeaders } from '../domain/submission.js';
import { composeMessage } from '../mail/compose-message.js';

/** A file to send, its bytes decoded. */
export interface OutgoingFile extends FileDescription {
  readonly bytes: Uint8Array;
}

/** The message that a reply answers. */
export interface ReplyTarget {
  readonly id: MessageId;
  readonly headers: ReplyHeaders;
}

/** What is to be sent but for whom it goes to, without the attribution. */
export interface OutgoingBody {
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly OutgoingFile[];
  readonly replyTo: ReplyTarget | null;
}

/** What is to be sent, worked out and checked. */
export interface OutgoingContent extends OutgoingBody {
  readonly recipients: Recipients;
}

/** What makes a message of a content; the same facts give the same bytes, also after a restart. */
export interface MessageFacts {
  readonly id: MessageId;
  /** Without brackets. */
  readonly messageId: string;
  readonly from: Mailbox;
  /** Milliseconds since the epoch. */
  readonly date: number;
}

/** Files as an agent gives them, decoded. */
export function decodedFiles(files: readonly FileInput[]): OutgoingFile[] {
  return files.map(({ filename, type, content }) => ({
    filename,
    type,
    disposition: 'attachment',
    bytes: Buffer.from(content, 'base64'),
  }));
}

/** Text, HTML and encoded files have a bound of their own, before anything is composed. */
export function checkContentSize({ text, html, files }: OutgoingBody): Result<true> {
  const size = contentBytes({ text, html, fileSizes: files.map(file => file.bytes.length) });
  return size <= MAX_MESSAGE_BYTES ? ok<true>(true) : tooLarge(size);
}

/** The refusal of a message of so many bytes or more. */
export function tooLarge(size: number): Result<never> {
  return fail(
    'message_too_large',
    `The message has at least ${size} bytes with its attachments encoded; at most ${MAX_MESSAGE_BYTES} (5 MiB) can be sent.`,
  );
}

/** The content as it is transmitted and saved: with the attribution (specification, Sending rule 3). */
export function withAttribution(content: OutgoingContent, attribution: string): OutgoingContent {
  const { text, html } = content;
  return {
    ...content,
    text: attributeText(text, attribution),
    html: html === null ? null : attributeHtml(html, attribution),
  };
}

/**
 * The whole message as it goes to the relay.
 * @param content attribution included
 * @returns `message_too_large` when it exceeds 5 MiB
 */
export function composeOutgoing(content: OutgoingContent, facts: MessageFacts): Result<Buffer> {
  const { recipients, subject, text, html, files, replyTo } = content;
  const message = composeMessage({
    ...facts,
    to: recipients.to,
    cc: recipients.cc,
    subject,
    text,
    html,
    replyHeaders: replyTo?.headers ?? null,
    files: files.map(({ bytes, ...description }) => ({ ...description, content: bytes })),
  });
  return message.length <= MAX_MESSAGE_BYTES ? ok(message) : tooLarge(message.length);
}
