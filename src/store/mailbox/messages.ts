import type { ParsedAddress, ReceivedSummary } from '../../contract/messages.js';
import type { SentMetadata } from '../../contract/sent.js';
import type { Authentication } from '../../domain/authentication.js';
import { type AccountId, type BlobId, idToBytes, type MessageId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type {
  AttachedFile,
  FileDescription,
  Mailbox,
  Recipients,
  ReplyHeaders,
} from '../../domain/message-parts.js';
import { bytesToParse } from '../engine/room.js';
import { jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import type { BlobRef } from '../records/blobs.js';
import { countStored, ownerOf, RECORD_BYTES } from '../records/storage.js';
import { removeExcerpt } from './excerpts.js';
import { countFolderBytes, type Folder } from './folders.js';
import { type IndexedMessage, moveInIndex } from './index.js';
import { countRoleMail, forgetRoleMail } from './role-mail.js';

export type ProcessingStatus = ReceivedSummary['processing_status'];

/** Where the bytes of an attachment are: in the raw message; of older messages, decoded in a blob of their own. */
export type AttachmentPlace = AttachedFile | AttachmentCopy;

type AttachmentCopy = Pick<AttachedFile, 'id' | 'filename'> & { readonly blob: BlobRef };

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
  /** The due instant of its entry in the pending index; null when it has none. */
  readonly parseDueAt: number | null;
  readonly processedAt: number | null;
  /** Why it failed, for the admin. */
  readonly failure: string | null;
  /** The From header as lists show it. */
  readonly from: ParsedAddress | null;
  readonly subject: string | null;
  readonly messageId: string | null;
  /** The prepared content as JSON (`ReceivedContent`); null while it is not ready. */
  readonly content: BlobRef | null;
  readonly attachments: readonly AttachmentPlace[];
  /** Who has written it, of a message that is ready; null or absent where that was not looked for. */
  readonly authentication?: Authentication | null;
  /** The same where a rule had to know before it was taken: it is published with the content, not found out again. */
  readonly checked?: Authentication | null;
  /** When it is to be found out once more who has written it, because DNS did not answer; null when it is not. */
  readonly recheck?: Recheck | null;
}

export interface Recheck {
  /** The due instant of its entry in the pending index. */
  readonly dueAt: number;
  /** Which look it will be, from 1. */
  readonly number: number;
}

export const messagesTable: Table<MessageId, ReceivedRecord> = {
  name: 'messages',
  encodeKey: idToBytes,
  ...jsonValue<ReceivedRecord>(3),
};

export function getMessage(reader: Reader, id: MessageId): ReceivedRecord | undefined {
  return reader.get(messagesTable, id);
}

export type SentStatus = SentMetadata['status'];

/**
 * State of an attempt: `reserved` may be started once, `started` is never started again, `settled` has its outcome. A
 * reserved attempt that is too old is `held` until an admin lets it start.
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
  /** Time of the reservation by the clock: that of the charge and of the Date field. */
  readonly reservedAt: number;
  readonly status: SentStatus;
  readonly attempt: AttemptState;
  /** The due instant of its entry in the pending index; null when none is owed. */
  readonly relayDueAt: number | null;
  /** Why it was not accepted, as agents see it (`getSentMessage`); null when there is no error. */
  readonly errorCode: string | null;
  /** What the relay said, for the admin. */
  readonly detail: string | null;
  /** Message-ID without brackets, fixed at the reservation. */
  readonly messageId: string;
  /** It begins a conversation through a relay that replaces the Message-ID: its References has its own id. */
  readonly mentionsItself?: boolean;
  /** The Message-ID, without brackets, by which its recipients know it, where a relay has replaced it. */
  readonly assignedId?: string | null;
  /** Resource id of the message that it answers. */
  readonly inReplyTo: MessageId | null;
  readonly replyHeaders: ReplyHeaders | null;
  /** Sender address and name at the reservation. */
  readonly from: Mailbox;
  readonly subject: string;
  /** Text and HTML as JSON (`SentBodies`). */
  readonly content: BlobRef;
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
  ...jsonValue<SentRecord>(2),
};

export function getSent(reader: Reader, id: MessageId): SentRecord | undefined {
  return reader.get(sentTable, id);
}

/** Writes the state of an attempt, which no list, set or conversation shows. */
export function saveAttempt(writer: Writer, record: SentRecord): void {
  writer.put(sentTable, record.id, record);
}

/** A message of either kind: labels, Trash and deletion are written once for both. */
export type MessageRecord = ReceivedRecord | SentRecord;

/**
 * Writes a message, the line that lists show of it while it is live, and its place in every index of its folder and in
 * its conversation. `before` is what the store holds of it, null when it arrives. The line is derived from the record
 * (`lineOf`), here and nowhere else.
 */
export function saveMessage(writer: Writer, before: MessageRecord | null, after: MessageRecord): void {
  putRecord(writer, after);
  const owed = bytesOwedTo(after) - bytesOwedTo(before);
  if (owed !== 0) writer.owe(owed);
  if (before === null && after.kind === 'received') countRoleMail(writer, after);
  moveInIndex(writer, before, after, after.trash === null ? lineOf(after) : null);
  countBytes(writer, after, bytesOf(after) - (before === null ? 0 : bytesOf(before)));
}

function putRecord(writer: Writer, record: MessageRecord): void {
  if (record.kind === 'received') writer.put(messagesTable, record.id, record);
  else writer.put(sentTable, record.id, record);
}

/** What the parsing of a message will take: nothing when it is done. */
export function bytesOwedTo(record: MessageRecord | null): number {
  const isDone = record?.kind !== 'received' || record.parseDueAt === null;
  return isDone ? 0 : bytesToParse(record.raw.size);
}

/** Removes a message from every lookup; its blobs are the caller's to release (`blobsOf`). */
export function removeMessage(writer: Writer, record: MessageRecord): void {
  writer.owe(-bytesOwedTo(record));
  if (record.kind === 'received') forgetRoleMail(writer, record);
  if (record.kind === 'received') writer.remove(messagesTable, record.id);
  else writer.remove(sentTable, record.id);
  removeExcerpt(writer, record.id);
  moveInIndex(writer, record, null, null);
  countBytes(writer, record, -bytesOf(record));
}

/** Counts what a message stores for its folder and its account; what a deleted inbox held counts no more. */
export function countBytes(writer: Writer, folder: Folder, change: number): void {
  if (change === 0) return;
  const accountId = ownerOf(writer, folder.inboxId);
  if (accountId === null) return;
  countFolderBytes(writer, folder, change);
  countStored(writer, accountId, change);
}

/** Bytes that a message counts for, while it is there. */
export function bytesOf(record: MessageRecord): number {
  let bytes = RECORD_BYTES;
  if (record.kind === 'sent') {
    for (const { blob } of record.files) bytes += blob.size;
    return bytes + record.content.size;
  }
  for (const { size } of attachmentBlobs(record)) bytes += size;
  return bytes + record.raw.size + (record.content?.size ?? 0);
}

/** Every blob that a message owns. */
export function blobsOf(record: MessageRecord): BlobId[] {
  if (record.kind === 'sent') return [record.content.id, ...record.files.map(({ blob }) => blob.id)];
  const { raw, content } = record;
  return [...[raw, content ?? []].flat(), ...attachmentBlobs(record)].map(({ id }) => id);
}

/** The blobs of attachments; none of a message that was parsed since they are read from its raw bytes. */
export function attachmentBlobs({ attachments }: ReceivedRecord): BlobRef[] {
  return attachments.flatMap(place => ('blob' in place ? [place.blob] : []));
}

/** How many recipients it was charged for: every entry, repeats included. */
export function recipientCount({ to, cc, bcc }: Recipients): number {
  return to.length + cc.length + bcc.length;
}

/** The line of a message in lists, as JSON bytes: encoded once, when the message changes, not at every read. */
export function lineOf(record: MessageRecord): Buffer {
  return Buffer.from(JSON.stringify(record.kind === 'received' ? viewReceived(record) : viewSent(record)));
}

/** How a received message looks in a list; `from` is shown only of a ready one. */
function viewReceived(record: ReceivedRecord): object {
  return commonFields(record, record.status === 'ready' ? record.from : undefined);
}

/** One object literal: objects made by spreading take twice as long to encode. */
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

/** Everything of the detail but `content`. */
export function detailFields(record: ReceivedRecord): object {
  return {
    ...commonFields(record, undefined),
    message_id: record.messageId,
    raw_size: record.raw.size,
    processed_at: record.processedAt === null ? null : toInstant(record.processedAt),
  };
}

/** The Message-ID, without brackets, by which the recipients of a sent message know it. */
export function knownIdOf({ messageId, assignedId }: SentRecord): string {
  return assignedId ?? messageId;
}

/** How a sent message looks to an agent. */
export function viewSent(record: SentRecord): SentMetadata {
  return {
    id: record.id,
    inbox_id: record.inboxId,
    created_at: toInstant(record.createdAt),
    recipient_count: recipientCount(record),
    status: record.status,
    provider_message_id: record.status === 'accepted' ? `<${knownIdOf(record)}>` : null,
    error_code: record.errorCode,
    thread_id: record.threadId,
    in_reply_to: record.inReplyTo,
    labels: record.labels,
  };
}
