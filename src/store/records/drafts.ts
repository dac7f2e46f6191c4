import {
  type AccountId,
  type BlobId,
  type DraftId,
  type InboxId,
  idFromBytes,
  idToBytes,
  type MessageId,
} from '../../domain/ids.js';
import type { Recipients } from '../../domain/message-parts.js';
import { joinKey, range, u8 } from '../engine/keys.js';
import { bytesKey, jsonValue, noValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import type { FilePlace } from '../mailbox/messages.js';
import type { BlobRef } from './blobs.js';
import { countDraftBytes, RECORD_BYTES } from './storage.js';

/** A submitted draft never becomes a draft again. */
export type DraftState = 'draft' | 'submitted';

export const DRAFT_STATES: readonly DraftState[] = ['draft', 'submitted'];

export interface DraftRecord extends Recipients {
  readonly id: DraftId;
  readonly inboxId: InboxId;
  readonly accountId: AccountId;
  readonly state: DraftState;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Grows with every change: what was read of one version is sent of that version only. */
  readonly version: number;
  readonly subject: string;
  /** In UTF-8; null when it has none. */
  readonly text: BlobRef | null;
  readonly html: BlobRef | null;
  readonly files: readonly FilePlace[];
  /** Resource id of the message that it answers. */
  readonly inReplyTo: string | null;
  /** In binary order; given to the sent copy. */
  readonly labels: readonly string[];
  /** The attempt that it was submitted with. */
  readonly sentMessageId: MessageId | null;
}

export const draftsTable: Table<DraftId, DraftRecord> = {
  name: 'drafts',
  encodeKey: idToBytes,
  ...jsonValue<DraftRecord>(2),
};

/** [inbox, which list, draft]: drafts of an inbox by creation, all of them and by state. */
export const inboxDraftsTable: Table<Buffer, true> = {
  name: 'inbox_drafts',
  encodeKey: bytesKey,
  ...noValue,
};

export type DraftList = DraftState | 'all';

const LIST_BYTE: Record<DraftList, number> = { all: 0, draft: 1, submitted: 2 };
const ID_AT = 17;

function listKey(inboxId: InboxId, list: DraftList, id?: DraftId): Buffer {
  return joinKey(idToBytes(inboxId), u8(LIST_BYTE[list]), id === undefined ? Buffer.alloc(0) : idToBytes(id));
}

/** Keys of the lists that a draft is in. */
export function draftListKeys({
  inboxId,
  state,
  id,
}: Pick<DraftRecord, 'inboxId' | 'state' | 'id'>): Buffer[] {
  return [listKey(inboxId, 'all', id), listKey(inboxId, state, id)];
}

export function getDraft(reader: Reader, id: DraftId): DraftRecord | undefined {
  return reader.get(draftsTable, id);
}

/** Writes a draft and moves it in the lists of its inbox; `before` is what the store holds of it. */
export function putDraft(writer: Writer, before: DraftRecord | null, after: DraftRecord): void {
  if (before !== null && before.state !== after.state) {
    writer.remove(inboxDraftsTable, listKey(before.inboxId, before.state, before.id));
  }
  if (before === null || before.state !== after.state) {
    for (const key of draftListKeys(after)) writer.put(inboxDraftsTable, key, true);
  }
  writer.put(draftsTable, after.id, after);
  countDraftBytes(writer, after.inboxId, bytesOfDraft(after) - (before === null ? 0 : bytesOfDraft(before)));
}

/** Removes a draft from every lookup; its blobs are the caller's to release. */
export function removeDraft(writer: Writer, draft: DraftRecord): void {
  writer.remove(draftsTable, draft.id);
  forgetListed(writer, draft);
  countDraftBytes(writer, draft.inboxId, -bytesOfDraft(draft));
}

/** Bytes that a draft counts for, submitted or not. */
export function bytesOfDraft({ text, html, files }: DraftRecord): number {
  return files.reduce(
    (sum, { blob }) => sum + blob.size,
    RECORD_BYTES + (text?.size ?? 0) + (html?.size ?? 0),
  );
}

/** Takes a draft out of the lists that one in its state is in. */
export function forgetListed(writer: Writer, draft: Pick<DraftRecord, 'inboxId' | 'state' | 'id'>): void {
  for (const key of draftListKeys(draft)) writer.remove(inboxDraftsTable, key);
}

/** Ids of the drafts of an inbox, last created first, those made before `before`. */
export function scanDrafts(
  reader: Reader,
  inboxId: InboxId,
  list: DraftList,
  before: DraftId | null,
  limit: number,
): DraftId[] {
  const drafts = range(listKey(inboxId, list), null, before === null ? null : listKey(inboxId, list, before));
  return reader
    .scanKeys(inboxDraftsTable, { ...drafts, reverse: true, limit })
    .map(key => idFromBytes<DraftId>(key, ID_AT));
}

/** Every blob that a draft owns. */
export function blobsOfDraft({ text, html, files }: Pick<DraftRecord, 'text' | 'html' | 'files'>): BlobId[] {
  const blobs = [text ?? [], html ?? [], files.map(file => file.blob)].flat();
  return blobs.map(({ id }) => id);
}
