import { setTimeout as delay } from 'node:timers/promises';
import { type BlobId, type InboxId, idFromBytes } from '../../src/domain/ids.js';
import {
  type BlobRef,
  blobChunksTable,
  blobOwnersTable,
  blobUploadsTable,
  chunkCount,
} from '../../src/store/blobs.js';
import { getCounters, summariesTable } from '../../src/store/mailboxes.js';
import { contentsTable, messagesTable, type ReceivedRecord } from '../../src/store/messages.js';
import { type PendingKind, pendingTable } from '../../src/store/pending.js';
import type { Entry, Reader } from '../../src/store/reader-writer.js';
import { Store } from '../../src/store/store.js';
import type { Table } from '../../src/store/table.js';
import type { PosternBox } from './postern-box.js';

/** Opens the store of a box beside its daemon: LMDB is made for several processes. Close it before the box goes. */
export function openStore(box: PosternBox): Store {
  return Store.open({ path: box.dataDir, mapSizeBytes: box.mapSizeBytes, diskFloorBytes: 0 });
}

export interface StoreFacts {
  readonly messages: readonly ReceivedRecord[];
  readonly chunks: number;
  /** Uploads that have begun and are neither finished nor given up. */
  readonly uploads: number;
  readonly pending: Readonly<Record<PendingKind, number>>;
  /** Whatever does not hold together; empty in a sound store. */
  readonly faults: readonly string[];
}

/** What one snapshot of the store holds, and whether its tables agree with one another. */
export function readFacts(store: Store): StoreFacts {
  return store.read(reader => {
    const messages = entriesOf(reader, messagesTable).map(({ value }) => value);
    const chunks = keysOf(reader, blobChunksTable);
    const pending = entriesOf(reader, pendingTable).map(({ value }) => value);
    const count = (kind: PendingKind) => pending.filter(work => work.kind === kind).length;
    return {
      messages,
      chunks: chunks.length,
      uploads: keysOf(reader, blobUploadsTable).length,
      pending: {
        parse: count('parse'),
        'purge-blob': count('purge-blob'),
        'purge-inbox': count('purge-inbox'),
        'purge-trash': count('purge-trash'),
        'expire-key': count('expire-key'),
      },
      faults: [
        ...blobFaults(reader, messages, chunks),
        ...recordFaults(reader, messages),
        ...counterFaults(reader, messages),
      ],
    };
  });
}

/** A store in which nothing has moved for so long will not come to what the test waits for. */
const GIVE_UP_MS = 60_000;

/** Looks at the store until a claim about it holds; another process gives no event. */
export async function untilFacts(
  box: PosternBox,
  holds: (facts: StoreFacts) => boolean,
): Promise<StoreFacts> {
  const store = openStore(box);
  let seen = '';
  let movedAt = performance.now();
  try {
    for (;;) {
      const facts = readFacts(store);
      if (holds(facts)) return facts;
      const { messages, ...counts } = facts;
      const shown = JSON.stringify({
        ...counts,
        messages: messages.map(({ id, status }) => `${id} ${status}`),
      });
      if (shown !== seen) movedAt = performance.now();
      seen = shown;
      if (performance.now() - movedAt > GIVE_UP_MS)
        throw new Error(`the store stands still at ${shown.slice(0, 2_000)}`);
      await delay(25);
    }
  } finally {
    await store.close();
  }
}

/** Nothing is left to be done: no parsing, no purge, no upload. */
export function isAtRest({ uploads, pending }: StoreFacts): boolean {
  return uploads + pending.parse + pending['purge-blob'] + pending['purge-inbox'] === 0;
}

const EVERYTHING = { from: Buffer.alloc(0), to: Buffer.alloc(64, 0xff), limit: 10_000_000 };

function entriesOf<Key, Value>(reader: Reader, table: Table<Key, Value>): Entry<Value>[] {
  return reader.scan(table, EVERYTHING);
}

function keysOf<Key, Value>(reader: Reader, table: Table<Key, Value>): Buffer[] {
  return reader.scanKeys(table, EVERYTHING);
}

function blobsOf(record: ReceivedRecord): BlobRef[] {
  const blobs = [record.raw, ...record.attachments.map(({ blob }) => blob)];
  return record.content?.in === 'blob' ? [...blobs, record.content.blob] : blobs;
}

/** Every chunk belongs to a blob that is whole, owned as often as it says, being uploaded, or being freed. */
function blobFaults(reader: Reader, messages: readonly ReceivedRecord[], chunkKeys: Buffer[]): string[] {
  const found = new Map<BlobId, number>();
  for (const key of chunkKeys) {
    const id = idFromBytes<BlobId>(key);
    found.set(id, (found.get(id) ?? 0) + 1);
  }
  const refs = messages.flatMap(blobsOf);
  const owners = new Map<BlobId, number>();
  for (const { id } of refs) owners.set(id, (owners.get(id) ?? 0) + 1);
  const leaving = new Set<string>([
    ...keysOf(reader, blobUploadsTable).map(key => idFromBytes<BlobId>(key)),
    ...entriesOf(reader, pendingTable)
      .map(({ value }) => value)
      .filter(work => work.kind === 'purge-blob')
      .map(work => work.id),
  ]);
  const orphans = [...found.keys()].filter(id => !owners.has(id) && !leaving.has(id));
  const holed = refs.filter(ref => found.get(ref.id) !== Math.max(1, chunkCount(ref.size)));
  const miscounted = [...owners].filter(([id, count]) => (reader.get(blobOwnersTable, id) ?? 1) !== count);
  return [
    ...orphans.map(id => `blob ${id}: ${found.get(id)} chunks that nothing refers to`),
    ...holed.map(ref => `blob ${ref.id} of ${ref.size} bytes: ${found.get(ref.id) ?? 0} chunks`),
    ...miscounted.map(([id, count]) => `blob ${id}: ${count} owners, counted otherwise`),
  ];
}

/** A record, the line that lists show of it, its pending entry and its content agree. */
function recordFaults(reader: Reader, messages: readonly ReceivedRecord[]): string[] {
  const faults: string[] = [];
  const owed = new Set(
    entriesOf(reader, pendingTable)
      .filter(({ value }) => value.kind === 'parse')
      .map(({ key, value }) => `${value.id} ${key.readUIntBE(1, 6)}`),
  );
  for (const record of messages) {
    const { id, inboxId, seq, status, parseDueAt, trash } = record;
    const bytes = reader.get(summariesTable, { inboxId, kind: 'received', seq });
    const summary =
      bytes === undefined ? null : (JSON.parse(bytes.toString('utf8')) as Record<string, unknown>);
    if (trash !== null) {
      if (summary !== null) faults.push(`message ${id}: in Trash and listed`);
    } else if (summary?.id !== id || summary.processing_status !== status) {
      faults.push(`message ${id}: another summary`);
    }
    if (parseDueAt !== null && !owed.delete(`${id} ${parseDueAt}`))
      faults.push(`message ${id}: nothing pending`);
    if ((parseDueAt === null) !== (status === 'ready' || status === 'failed')) {
      faults.push(`message ${id}: ${status}, due ${parseDueAt}`);
    }
    const hasContent =
      record.content?.in === 'record' ? reader.has(contentsTable, id) : record.content !== null;
    if (hasContent !== (status === 'ready')) faults.push(`message ${id}: ${status}, content ${hasContent}`);
  }
  for (const entry of owed) faults.push(`pending entry ${entry} without its message`);
  const over = entriesOf(reader, pendingTable)
    .filter(({ value }) => value.kind === 'purge-trash')
    .map(({ key, value }) => `${value.id} ${key.readUIntBE(1, 6)}`);
  const trashed = messages.flatMap(({ id, trash }) =>
    trash === null ? [] : [`${id} ${trash.restorableUntil}`],
  );
  if (over.sort().join() !== trashed.sort().join())
    faults.push(`Trash holds ${trashed}, to be purged ${over}`);
  const listed = keysOf(reader, summariesTable).length;
  const live = messages.filter(({ trash }) => trash === null).length;
  if (listed !== live) faults.push(`${listed} summaries of ${live} messages`);
  return faults;
}

function counterFaults(reader: Reader, messages: readonly ReceivedRecord[]): string[] {
  const perInbox = new Map<InboxId, number>();
  for (const { inboxId, trash } of messages) {
    perInbox.set(inboxId, (perInbox.get(inboxId) ?? 0) + (trash === null ? 1 : 0));
  }
  return [...perInbox]
    .map(([id, count]) => ({
      id,
      count,
      counted: getCounters(reader, { inboxId: id, kind: 'received' }).live,
    }))
    .filter(({ count, counted }) => count !== counted)
    .map(({ id, count, counted }) => `inbox ${id}: ${count} messages, counted ${counted}`);
}
