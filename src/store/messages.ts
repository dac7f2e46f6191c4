import type { ParsedAddress } from '../domain/content.js';
import type { BlobId, MessageId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import type { BlobRef } from './blobs.js';
import { type IndexedMessage, moveInIndex } from './mailbox-index.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, rawValue, type Table } from './table.js';

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
