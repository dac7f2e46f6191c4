import type { ParsedAddress } from '../../domain/content.js';
import { type AccountId, type BlobId, idToBytes, type MessageId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { FileDescription, Mailbox, Recipients, ReplyHeaders } from '../../domain/message-parts.js';
import { jsonValue, type Reader, rawValue, type Table, type Writer } from '../engine/tables.js';
import type { BlobRef } from '../records/blobs.js';
import { type IndexedMessage, moveInIndex } from './index.js';

/** Specification, "Received message processing_status". */
export type ProcessingStatus = 'pending' | 'processing' | 'ready' | 'failed';

/** Where the prepared content of a ready message is: beside the record when small, else in chunks. */
export type ContentPlace = { readonly in: 'record' } | { readonly in: 'blob'; readonly blob: BlobRef };

export interface AttachmentPlace {
  /** Id within the message, as in the content's attachment metadata. */
  readonly id: string;
  readonly blob: BlobRef;
  /** As in the metadata; kept here so that a download need not read the content. */
  readonly filename: string | null;
}

export interface ReceivedRecord extends IndexedMessage {
  readonly kind: 'received';
  /** Reverse-path as sent; `""` for the null sender. */
  readonly envelopeFrom: string;
  /** Forward-path as sent. */
  readonly envelopeTo: string;
  readonly receivedAt: number;
  readonly clientAddress: string;
  readonly helo: string;
  readonly raw: BlobRef;
  readonly status: ProcessingStatus;
  /** Attempts to parse it so far. */
  readonly tries: number;
  /** How often the whole process ended while it was being parsed. */
  readonly interruptions: number;
  /** The due instant of its entry in the pending index; null when none is owed. */
  readonly parseDueAt: number | null;
  readonly processedAt: number | null;
  /** Why it failed, for the admin. */
  readonly failure: string | null;
  /** The From header as lists show it. */
  readonly from: ParsedAddress | null;
  readonly subject: string | null;
  readonly messageId: string | null;
  readonly content: ContentPlace | null;
  readonly attachments: readonly AttachmentPlace[];
}

export const messagesTable: Table<MessageId, ReceivedRecord> = {
  name: 'messages',
  encodeKey: idToBytes,
  ...jsonValue<ReceivedRecord>(2),
};

/** Content JSON of ready messages, up to one chunk long; longer ones are blobs. */
export const contentsTable: Table<MessageId, Buffer> = {
  name: 'contents',
  encodeKey: idToBytes,
  ...rawValue,
};

export function getMessage(reader: Reader, id: MessageId): ReceivedRecord | undefined {
  return reader.get(messagesTable, id);
}

/**
 * Writes a message and moves it in every index of its mailbox. `before` is what the store holds of it, null
 * when it arrives; `summary` is the line that lists show of it.
 */
export function saveMessage(
  writer: Writer,
  before: ReceivedRecord | null,
  after: ReceivedRecord,
  summary: Buffer,
): void {
  writer.put(messagesTable, after.id, after);
  moveInIndex(writer, before, after, summary);
}

/** Removes a message from every lookup; its blobs are the caller's to release. */
export function removeMessage(writer: Writer, record: ReceivedRecord): void {
  writer.remove(messagesTable, record.id);
  if (record.content?.in === 'record') writer.remove(contentsTable, record.id);
  moveInIndex(writer, record, null, null);
}

/** Every blob that a message owns. */
export function blobsOf(record: ReceivedRecord): BlobId[] {
  const ids = [record.raw.id, ...record.attachments.map(attachment => attachment.blob.id)];
  if (record.content?.in === 'blob') ids.push(record.content.blob.id);
  return ids;
}

/** Specification, "Sent message status". */
export type SentStatus = 'accepted' | 'rejected' | 'unknown';

/**
 * How far an attempt has come: `reserved` may be started once, `started` never again by anything,
 * `settled` has its outcome. One that was not started for too long is `held` until an admin lets it start.
 */
export type AttemptState = 'reserved' | 'held' | 'started' | 'settled';

/** A file of an outgoing message: its decoded bytes lie in a blob. */
export interface FilePlace extends FileDescription {
  /** Id within the message. */
  readonly id: string;
  readonly blob: BlobRef;
}

export interface SentRecord extends IndexedMessage, Recipients {
  readonly kind: 'sent';
  /** Who is charged. */
  readonly accountId: AccountId;
  /** Instant of the reservation; that of the message before it when the clock has gone back. */
  readonly createdAt: number;
  /** The same as the clock said: instant of the charge and of the Date field. */
  readonly reservedAt: number;
  readonly status: SentStatus;
  readonly attempt: AttemptState;
  /** The due instant of its entry in the pending index; null when none is owed. */
  readonly relayDueAt: number | null;
  /** Specification, SentMetadata. */
  readonly errorCode: string | null;
  /** What the relay said, for the admin. */
  readonly detail: string | null;
  /** Message-ID without brackets, fixed at the reservation. */
  readonly messageId: string;
  /** Resource id of the message that it answers. */
  readonly inReplyTo: MessageId | null;
  readonly replyHeaders: ReplyHeaders | null;
  /** Sender address and name of the instant of the reservation. */
  readonly from: Mailbox;
  readonly subject: string;
  /** Where text and HTML are, as JSON (`SentBodies`). */
  readonly content: ContentPlace;
  readonly files: readonly FilePlace[];
}

/** Bodies as transmitted, attribution included. */
export interface SentBodies {
  readonly text: string;
  readonly html?: string;
}

export const sentTable: Table<MessageId, SentRecord> = {
  name: 'sent',
  encodeKey: idToBytes,
  ...jsonValue<SentRecord>(1),
};

/** Bodies of sent messages, up to one chunk long; longer ones are blobs. */
export const sentContentsTable: Table<MessageId, Buffer> = {
  name: 'sent_contents',
  encodeKey: idToBytes,
  ...rawValue,
};

export function getSent(reader: Reader, id: MessageId): SentRecord | undefined {
  return reader.get(sentTable, id);
}

/** Writes a sent message and moves it in every index of its mailbox; as `saveMessage` does for received mail. */
export function saveSent(
  writer: Writer,
  before: SentRecord | null,
  after: SentRecord,
  summary: Buffer,
): void {
  writer.put(sentTable, after.id, after);
  moveInIndex(writer, before, after, summary);
}

/** Writes how far an attempt has come, of which no list, set or conversation shows anything. */
export function saveAttempt(writer: Writer, record: SentRecord): void {
  writer.put(sentTable, record.id, record);
}

/** Removes a sent message from every lookup; its blobs are the caller's to release. */
export function removeSent(writer: Writer, record: SentRecord): void {
  writer.remove(sentTable, record.id);
  if (record.content.in === 'record') writer.remove(sentContentsTable, record.id);
  moveInIndex(writer, record, null, null);
}

/** Every blob that a sent message owns. */
export function blobsOfSent(record: SentRecord): BlobId[] {
  const ids = record.files.map(file => file.blob.id);
  if (record.content.in === 'blob') ids.push(record.content.blob.id);
  return ids;
}

/** How many recipients it was charged for: every entry, repeats included. */
export function recipientCount({ to, cc, bcc }: Recipients): number {
  return to.length + cc.length + bcc.length;
}

/**
 * How a received message looks to an agent (specification, "Received message summary" and "detail").
 * The summary is encoded once, when the message changes, and kept as the bytes that lists answer with.
 */

/** One literal: objects that are put together by spreading take twice as long to be encoded. */
function commonFields(record: ReceivedRecord, from: ReceivedRecord['from'] | undefined): object {
  return {
    id: record.id,
    inbox_id: record.inboxId,
    // A message that is parsed again keeps its place in its conversation and is not shown there.
    thread_id: record.status === 'ready' ? record.threadId : null,
    envelope_from: record.envelopeFrom,
    envelope_to: record.envelopeTo,
    subject: record.subject,
    received_at: toInstant(record.receivedAt),
    processing_status: record.status,
    // Left out where it is undefined.
    from,
    labels: record.labels,
  };
}

/** One entry of a list. `from` is shown only of a ready message. */
export function encodeSummary(record: ReceivedRecord): Buffer {
  const from = record.status === 'ready' ? record.from : undefined;
  return Buffer.from(JSON.stringify(commonFields(record, from)), 'utf8');
}

/** Everything of the detail but `content`. */
export function detailFields(record: ReceivedRecord): object {
  return {
    ...commonFields(record, undefined),
    message_id: record.messageId,
    raw_size: record.raw.size,
    processed_at: record.processedAt === null ? null : toInstant(record.processedAt),
  };
}

/** How a sent message looks to an agent (specification, SentMetadata). */
export interface SentMetadata {
  readonly id: string;
  readonly inbox_id: string;
  readonly created_at: string;
  readonly recipient_count: number;
  readonly status: SentRecord['status'];
  readonly provider_message_id: string | null;
  readonly error_code: string | null;
  readonly thread_id: string | null;
  readonly in_reply_to: string | null;
  readonly labels: readonly string[];
}

export function viewSent(record: SentRecord): SentMetadata {
  return {
    id: record.id,
    inbox_id: record.inboxId,
    created_at: toInstant(record.createdAt),
    recipient_count: recipientCount(record),
    status: record.status,
    provider_message_id: record.status === 'accepted' ? `<${record.messageId}>` : null,
    error_code: record.errorCode,
    thread_id: record.threadId,
    in_reply_to: record.inReplyTo,
    labels: record.labels,
  };
}

/** One entry of a list, encoded once, when the message changes. */
export function encodeSentSummary(record: SentRecord): Buffer {
  return Buffer.from(JSON.stringify(viewSent(record)), 'utf8');
}
