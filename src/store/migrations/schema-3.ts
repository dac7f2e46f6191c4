import { type DraftId, type Id, idToBytes, type MessageId } from '../../domain/ids.js';
import { joinKey, u8 } from '../engine/keys.js';
import { bytesKey, jsonValue, rawValue, type Table } from '../engine/tables.js';
import type { ReceivedRecord, SentRecord } from '../mailbox/messages.js';
import type { BlobRef } from '../records/blobs.js';
import type { DraftRecord } from '../records/drafts.js';

/**
 * Tables and records as schema 3 had them: a content of up to one chunk lay in a table of its own under the id of
 * its record, a longer one in a blob. Only migrations look at these.
 */
export type ContentPlace = { readonly in: 'record' } | { readonly in: 'blob'; readonly blob: BlobRef };

/** Of a text of a draft the size was kept, too. */
export type TextPlace = ContentPlace & { readonly size: number };

type With<Content, Before, Fields extends keyof Before> = Omit<Before, Fields> & Record<Fields, Content>;

export type ReceivedBefore = With<ContentPlace | null, ReceivedRecord, 'content'>;
export type SentBefore = With<ContentPlace, SentRecord, 'content'>;
export type DraftBefore = With<TextPlace | null, DraftRecord, 'text' | 'html'>;

export const receivedBefore: Table<MessageId, ReceivedBefore> = {
  name: 'messages',
  encodeKey: idToBytes,
  ...jsonValue<ReceivedBefore>(2),
};

export const sentBefore: Table<MessageId, SentBefore> = {
  name: 'sent',
  encodeKey: idToBytes,
  ...jsonValue<SentBefore>(1),
};

export const draftsBefore: Table<DraftId, DraftBefore> = {
  name: 'drafts',
  encodeKey: idToBytes,
  ...jsonValue<DraftBefore>(1),
};

const bytesTable = (name: string): Table<Buffer, Buffer> => ({ name, encodeKey: bytesKey, ...rawValue });

/** Id of the message -> JSON of its content. */
export const receivedContentsBefore = bytesTable('contents');
export const sentContentsBefore = bytesTable('sent_contents');

/** `draftTextKey` -> text in UTF-8. */
export const draftTextsBefore = bytesTable('draft_texts');

export const draftTextKey = (id: Id<string>, field: 'text' | 'html'): Buffer =>
  joinKey(idToBytes(id), u8(field === 'text' ? 1 : 2));

/** They are opened like any other and empty from schema 4 on. */
export const TABLES_BEFORE = [receivedContentsBefore, sentContentsBefore, draftTextsBefore];
