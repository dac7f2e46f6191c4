import type { AccountId, BlobId, MessageId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import type { FileDescription, Mailbox, Recipients, ReplyHeaders } from '../domain/submission.js';
import type { BlobRef } from './blobs.js';
import { type IndexedMessage, moveInIndex } from './mailbox-index.js';
import type { ContentPlace } from './messages.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, rawValue, type Table } from './table.js';

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
