import {
  type BlobId,
  type DraftId,
  idFromBytes,
  idToBytes,
  type MessageId,
  newId,
} from '../../domain/ids.js';
import { joinKey, range, u8, WHOLE_TABLE } from '../engine/keys.js';
import type { Table, Writer } from '../engine/tables.js';
import { messagesTable, sentTable } from '../mailbox/messages.js';
import { type BlobRef, blobChunksTable } from '../records/blobs.js';
import { draftsTable } from '../records/drafts.js';
import type { Migration } from './0001-initial-schema.js';
import {
  type ContentPlace,
  draftsBefore,
  draftTextKey,
  draftTextsBefore,
  receivedBefore,
  receivedContentsBefore,
  sentBefore,
  sentContentsBefore,
  TABLES_BEFORE,
} from './schema-3.js';

/**
 * Contents and texts that lay beside their records become blobs of one chunk, and records name them. Lines in lists
 * and indexes say nothing of where a content is: they stay as they are. The position is the number of a walk and the
 * last key that it has come to.
 */
export const contentsAreBlobs: Migration = {
  name: 'contents are blobs',
  up: () => {},
  more: (writer, nowMs, position) => {
    const at = position?.[0] ?? 0;
    const walk = WALKS[at];
    if (walk === undefined) return null;
    const after = position === null || position.length < 2 ? null : position.subarray(1);
    const last = walk(new ContentMover(writer, nowMs), after);
    if (last !== null) return joinKey(u8(at), last);
    return at + 1 < WALKS.length ? u8(at + 1) : null;
  },
};

/** Bounds of one unit, which takes some ten milliseconds: records, and bytes that are moved. */
const RECORDS_PER_UNIT = 100;
const BYTES_PER_UNIT = 1024 * 1024;
/** Goes on after a key; says at which it has stopped, null at the end. */
type Walk = (mover: ContentMover, after: Buffer | null) => Buffer | null;

const WALKS: readonly Walk[] = [
  (mover, after) =>
    mover.walk(receivedBefore, after, key => {
      const id = idFromBytes<MessageId>(key);
      const before = mover.writer.get(receivedBefore, id);
      if (before === undefined) return;
      const content =
        before.content === null ? null : mover.blobOf(before.content, receivedContentsBefore, idToBytes(id));
      mover.writer.put(messagesTable, id, { ...before, content });
    }),
  (mover, after) =>
    mover.walk(sentBefore, after, key => {
      const id = idFromBytes<MessageId>(key);
      const before = mover.writer.get(sentBefore, id);
      if (before === undefined) return;
      const content = mover.blobOf(before.content, sentContentsBefore, idToBytes(id));
      mover.writer.put(sentTable, id, { ...before, content });
    }),
  (mover, after) =>
    mover.walk(draftsBefore, after, key => {
      const id = idFromBytes<DraftId>(key);
      const before = mover.writer.get(draftsBefore, id);
      if (before === undefined) return;
      const blobOf = (field: 'text' | 'html'): BlobRef | null => {
        const place = before[field];
        return place === null ? null : mover.blobOf(place, draftTextsBefore, draftTextKey(id, field));
      };
      mover.writer.put(draftsTable, id, { ...before, text: blobOf('text'), html: blobOf('html') });
    }),
  // What no record named, in a damaged store, goes too.
  ...TABLES_BEFORE.map(
    (table): Walk =>
      (mover, after) =>
        mover.walk(table, after, key => mover.writer.remove(table, key)),
  ),
];

/** One unit of the migration. */
class ContentMover {
  readonly writer: Writer;
  readonly #nowMs: number;
  #movedBytes = 0;

  constructor(writer: Writer, nowMs: number) {
    this.writer = writer;
    this.#nowMs = nowMs;
  }

  /** Visits keys after `after` within the bounds of a unit; the last one, or null at the end of the table. */
  walk<Key, Value>(
    table: Table<Key, Value>,
    after: Buffer | null,
    visit: (key: Buffer) => void,
  ): Buffer | null {
    const keys = this.writer.scanKeys(table, { ...range(WHOLE_TABLE, after), limit: RECORDS_PER_UNIT });
    for (const key of keys) {
      visit(key);
      if (this.#movedBytes >= BYTES_PER_UNIT) return key;
    }
    return keys.length < RECORDS_PER_UNIT ? null : (keys.at(-1) ?? null);
  }

  /** The blob of a content, moved there if it lay in a table. One that is missing, in a damaged store, stays so. */
  blobOf(place: ContentPlace, table: Table<Buffer, Buffer>, key: Buffer): BlobRef {
    if (place.in === 'blob') return place.blob;
    const id = newId<BlobId>(this.#nowMs);
    const bytes = this.writer.get(table, key);
    if (bytes === undefined) return { id, size: 0 };
    this.#movedBytes += bytes.length;
    this.writer.put(blobChunksTable, { id, index: 0 }, bytes);
    this.writer.remove(table, key);
    return { id, size: bytes.length };
  }
}
