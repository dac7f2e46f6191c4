import { type Refusal, refuse } from '../../domain/errors.js';
import type { MessageId } from '../../domain/ids.js';
import type {
  FileDescription,
  FileInput,
  Mailbox,
  Recipients,
  ReplyHeaders,
} from '../../domain/message-parts.js';
import { contentBytes, MAX_MESSAGE_BYTES } from '../../domain/send-input.js';
import { attributeHtml, attributeText } from '../../domain/text.js';
import { composeMessage } from '../../mail/write/compose-message.js';
import type { Store } from '../../store/engine/store.js';
import { type SentBodies, type SentRecord, sentContentsTable } from '../../store/mailbox/messages.js';
import { readWholeBlob } from '../shared/contents.js';

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
export function checkContentSize({ text, html, files }: OutgoingBody): void {
  const size = contentBytes({ text, html, fileSizes: files.map(file => file.bytes.length) });
  if (size > MAX_MESSAGE_BYTES) throw tooLarge(size);
}

/** The refusal of a message of so many bytes or more. */
export function tooLarge(size: number): Refusal {
  return refuse(
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
export function composeOutgoing(content: OutgoingContent, facts: MessageFacts): Buffer {
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
  if (message.length > MAX_MESSAGE_BYTES) throw tooLarge(message.length);
  return message;
}

/**
 * What a sent message was made of, attribution included, from the store: at most 5 MiB.
 * @returns null when bytes are missing
 */
export async function readOutgoing(store: Store, record: SentRecord): Promise<OutgoingContent | null> {
  const bodies = await readSentBodies(store, record);
  if (bodies === null) return null;
  const files: OutgoingFile[] = [];
  for (const { id: _id, blob, ...description } of record.files) {
    const bytes = await readWholeBlob(store, blob);
    if (bytes === null) return null;
    files.push({ ...description, bytes });
  }
  const { to, cc, bcc, subject, inReplyTo, replyHeaders } = record;
  return {
    recipients: { to, cc, bcc },
    subject,
    text: bodies.text,
    html: bodies.html ?? null,
    files,
    replyTo: inReplyTo === null || replyHeaders === null ? null : { id: inReplyTo, headers: replyHeaders },
  };
}

/** Text and HTML of a sent message; null when they are missing. */
export async function readSentBodies(
  store: Store,
  { id, content }: Pick<SentRecord, 'id' | 'content'>,
): Promise<SentBodies | null> {
  const json =
    content.in === 'blob'
      ? await readWholeBlob(store, content.blob)
      : store.read(reader => reader.get(sentContentsTable, id));
  return json === null || json === undefined ? null : (JSON.parse(json.toString('utf8')) as SentBodies);
}
