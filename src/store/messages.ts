import type { BlobId, InboxId, MessageId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import type { BlobRef } from './blobs.js';
import { joinKey, u8, u48 } from './key-codec.js';
import type { Entry, Reader, Writer } from './reader-writer.js';
import { jsonValue, rawValue, type Table } from './table.js';

/** A mailbox holds two kinds of message, each numbered and listed apart. */
export type MessageKind = 'received' | 'sent';

export const KIND_BYTE: Record<MessageKind, number> = { received: 1, sent: 2 };

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

export interface ReceivedRecord {
  readonly id: MessageId;
  readonly inboxId: InboxId;
  /** Dense number within the inbox and kind, in the order of acceptance, from 1. */
  readonly seq: number;
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
  readonly threadId: string | null;
  readonly subject: string | null;
  readonly messageId: string | null;
  readonly content: ContentPlace | null;
  readonly attachments: readonly AttachmentPlace[];
}

export const messagesTable: Table<MessageId, ReceivedRecord> = {
  name: 'messages',
  encodeKey: idToBytes,
  ...jsonValue<ReceivedRecord>(1),
};

export interface SequenceKey {
  readonly inboxId: InboxId;
  readonly kind: MessageKind;
  readonly seq: number;
}

const sequenceKey = (key: SequenceKey): Buffer =>
  joinKey(idToBytes(key.inboxId), u8(KIND_BYTE[key.kind]), u48(key.seq));

/** [inbox, kind, seq] -> the JSON bytes that a list answers with: encoding once, at the change, is what makes lists cheap. */
export const summariesTable: Table<SequenceKey, Buffer> = {
  name: 'summaries',
  encodeKey: sequenceKey,
  ...rawValue,
};

/** Content JSON of ready messages, up to one chunk long; longer ones are blobs. */
export const contentsTable: Table<MessageId, Buffer> = {
  name: 'contents',
  encodeKey: idToBytes,
  ...rawValue,
};

export interface MailboxCounters {
  /** The number that the next message gets. */
  readonly nextSeq: number;
  /** Messages that are there. */
  readonly live: number;
}

export const mailboxCountersTable: Table<{ inboxId: InboxId; kind: MessageKind }, MailboxCounters> = {
  name: 'mailbox_counters',
  encodeKey: key => joinKey(idToBytes(key.inboxId), u8(KIND_BYTE[key.kind])),
  encodeValue: counters => joinKey(u48(counters.nextSeq), u48(counters.live)),
  decodeValue: bytes => ({ nextSeq: bytes.readUIntBE(0, 6), live: bytes.readUIntBE(6, 6) }),
};

const EMPTY_MAILBOX: MailboxCounters = { nextSeq: 1, live: 0 };

export function getMessage(reader: Reader, id: MessageId): ReceivedRecord | undefined {
  return reader.get(messagesTable, id);
}

export function getCounters(reader: Reader, inboxId: InboxId, kind: MessageKind): MailboxCounters {
  return reader.get(mailboxCountersTable, { inboxId, kind }) ?? EMPTY_MAILBOX;
}

/** Reserves the next sequence number of a mailbox and counts the message that takes it. */
export function takeSequence(writer: Writer, inboxId: InboxId, kind: MessageKind): number {
  const { nextSeq, live } = getCounters(writer, inboxId, kind);
  writer.put(mailboxCountersTable, { inboxId, kind }, { nextSeq: nextSeq + 1, live: live + 1 });
  return nextSeq;
}

/** Writes a message and the line that lists show of it; the two never differ. */
export function putMessage(writer: Writer, record: ReceivedRecord, summary: Buffer): void {
  writer.put(messagesTable, record.id, record);
  writer.put(summariesTable, { inboxId: record.inboxId, kind: 'received', seq: record.seq }, summary);
}

/** Removes a message from every lookup; its blobs are the caller's to release. */
export function removeMessage(writer: Writer, record: ReceivedRecord): void {
  const { inboxId, seq } = record;
  writer.remove(messagesTable, record.id);
  writer.remove(summariesTable, { inboxId, kind: 'received', seq });
  if (record.content?.in === 'record') writer.remove(contentsTable, record.id);
  const counters = getCounters(writer, inboxId, 'received');
  writer.put(mailboxCountersTable, { inboxId, kind: 'received' }, { ...counters, live: counters.live - 1 });
}

/** Every blob that a message owns. */
export function blobsOf(record: ReceivedRecord): BlobId[] {
  const ids = [record.raw.id, ...record.attachments.map(attachment => attachment.blob.id)];
  if (record.content?.in === 'blob') ids.push(record.content.blob.id);
  return ids;
}

/** Summaries of a mailbox, newest first, those before sequence number `before`. */
export function scanSummaries(
  reader: Reader,
  mailbox: { inboxId: InboxId; kind: MessageKind },
  before: number | null,
  limit: number,
): { seq: number; summary: Buffer }[] {
  const entries: Entry<Buffer>[] = reader.scan(summariesTable, {
    from: sequenceKey({ ...mailbox, seq: 0 }),
    to: sequenceKey({ ...mailbox, seq: before ?? 2 ** 48 - 1 }),
    reverse: true,
    limit,
  });
  return entries.map(({ key, value }) => ({ seq: key.readUIntBE(17, 6), summary: value }));
}
