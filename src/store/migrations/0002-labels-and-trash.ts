import type { ReceivedContent } from '../../contract/messages.js';
import { recipientsOf, sendersOf } from '../../domain/addresses.js';
import { type InboxId, idFromBytes, idToBytes, type MessageId } from '../../domain/ids.js';
import { range } from '../engine/keys.js';
import { bytesKey, jsonValue, type Reader, type Table, type Writer, walkTable } from '../engine/tables.js';
import {
  FIRST_SEQ,
  type Folder,
  type FolderCounters,
  folderCountersTable,
  folderKey,
  summariesTable,
} from '../mailbox/folders.js';
import { moveInIndex } from '../mailbox/index.js';
import { addPosting } from '../mailbox/postings.js';
import { chunkCount, getChunk } from '../records/blobs.js';
import type { Migration } from './0001-initial-schema.js';
import { type ReceivedBefore, receivedBefore, receivedContentsBefore } from './schema-3.js';

type AddedFields = 'kind' | 'labels' | 'senders' | 'recipients' | 'trash' | 'from';

const messagesBefore: Table<Buffer, Omit<ReceivedBefore, AddedFields>> = {
  name: receivedBefore.name,
  encodeKey: bytesKey,
  ...jsonValue<Omit<ReceivedBefore, AddedFields>>(1),
};

const countersBefore: Table<Buffer, Omit<FolderCounters, 'lastAt' | 'version' | 'bytes'>> = {
  name: folderCountersTable.name,
  encodeKey: bytesKey,
  encodeValue: () => {
    throw new Error('counters of schema 1 are only read');
  },
  decodeValue: bytes => ({ nextSeq: bytes.readUIntBE(0, 6), live: bytes.readUIntBE(6, 6) }),
};

/** Messages get labels, Trash and sets of addresses; folders know their newest instant and what is gone. */
export const labelsAndTrash: Migration = {
  name: 'labels and trash',
  up: writer => {
    const newest = new Map<InboxId, number>();
    for (const { key, value } of walkTable(writer, messagesBefore)) {
      upgradeMessage(writer, idFromBytes<MessageId>(key), value);
      newest.set(value.inboxId, Math.max(newest.get(value.inboxId) ?? 0, value.receivedAt));
    }
    for (const { key, value } of walkTable(writer, countersBefore)) {
      const folder: Folder = { inboxId: idFromBytes<InboxId>(key.subarray(0, 16)), kind: 'received' };
      writer.put(folderCountersTable, folder, {
        ...value,
        lastAt: newest.get(folder.inboxId) ?? 0,
        version: 0,
        bytes: 0,
      });
      markGone(writer, folder, value.nextSeq);
    }
  },
};

function upgradeMessage(writer: Writer, id: MessageId, before: Omit<ReceivedBefore, AddedFields>): void {
  const content = contentOf(writer, id, before);
  const record: ReceivedBefore = {
    ...before,
    kind: 'received',
    labels: [],
    trash: null,
    from: content?.from ?? null,
    senders: content === null ? [] : sendersOf({ from: content.from ?? null }),
    recipients:
      content === null
        ? []
        : recipientsOf({ to: content.to ?? [], cc: content.cc ?? [], bcc: content.bcc ?? [] }),
  };
  writer.put(receivedBefore, id, record);
  // The line that lists show stays as it is.
  moveInIndex(writer, null, record, null);
}

/** The header fields of a ready message; null when there are none, or their bytes are damaged. */
function contentOf(
  reader: Reader,
  id: MessageId,
  { content }: Omit<ReceivedBefore, AddedFields>,
): Partial<ReceivedContent> | null {
  if (content === null) return null;
  const chunks = content.in === 'record' ? [reader.get(receivedContentsBefore, idToBytes(id))] : [];
  if (content.in === 'blob') {
    for (let index = 0; index < chunkCount(content.blob.size); index++) {
      chunks.push(getChunk(reader, content.blob.id, index));
    }
  }
  try {
    const bytes = Buffer.concat(chunks.map(chunk => chunk ?? Buffer.alloc(0)));
    return JSON.parse(bytes.toString('utf8')) as Partial<ReceivedContent>;
  } catch {
    return null;
  }
}

/** Numbers that were given and that no line is left of. */
function markGone(writer: Writer, folder: Folder, nextSeq: number): void {
  let expected = FIRST_SEQ;
  const prefix = folderKey(folder);
  for (const { key } of walkTable(writer, summariesTable, range(prefix))) {
    const seq = key.readUIntBE(prefix.length, 6);
    for (; expected < seq; expected++) addPosting(writer, folder, { type: 'gone' }, expected);
    expected = seq + 1;
  }
  for (; expected < nextSeq; expected++) addPosting(writer, folder, { type: 'gone' }, expected);
}
