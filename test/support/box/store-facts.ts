import { setTimeout as delay } from 'node:timers/promises';
import { type BlobId, idFromBytes } from '../../../src/domain/ids.js';
import type { Store } from '../../../src/store/engine/store.js';
import type { Entry, Reader, Table } from '../../../src/store/engine/tables.js';
import { getCounters, summariesTable } from '../../../src/store/mailbox/folders.js';
import type { IndexedMessage } from '../../../src/store/mailbox/index.js';
import {
  attachmentBlobs,
  messagesTable,
  type ReceivedRecord,
  type SentRecord,
  sentTable,
} from '../../../src/store/mailbox/messages.js';
import { openStore as openStoreAt } from '../../../src/store/open-store.js';
import {
  type BlobRef,
  blobChunksTable,
  blobOwnersTable,
  blobUploadsTable,
  CHUNK_BYTES,
  chunkCount,
} from '../../../src/store/records/blobs.js';
import { chargeSumsTable, chargesTable } from '../../../src/store/records/charges.js';
import { type DraftRecord, draftsTable } from '../../../src/store/records/drafts.js';
import { fileUploadsTable } from '../../../src/store/records/file-uploads.js';
import { type PendingKind, pendingTable } from '../../../src/store/records/pending.js';
import type { PosternBox } from './postern-box.js';

/** Opens the store of a box beside its daemon: LMDB is made for several processes. Close it before the box goes. */
export function openStore(box: PosternBox): Store {
  return openStoreAt({ path: box.dataDir, mapSizeBytes: box.mapSizeBytes, diskFloorBytes: 0 });
}

export interface StoreFacts {
  readonly messages: readonly ReceivedRecord[];
  readonly sent: readonly SentRecord[];
  /** Chunks, but for the one of a content or text that is no longer than a chunk. */
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
    const sent = entriesOf(reader, sentTable).map(({ value }) => value);
    const drafts = entriesOf(reader, draftsTable).map(({ value }) => value);
    const chunks = keysOf(reader, blobChunksTable);
    const texts = [...messages, ...sent].map(({ content }) => content);
    for (const { text, html } of drafts) texts.push(text, html);
    const short = new Set(texts.flatMap(blob => (blob === null || blob.size > CHUNK_BYTES ? [] : blob.id)));
    const pending = entriesOf(reader, pendingTable).map(({ value }) => value);
    const count = (kind: PendingKind) => pending.filter(work => work.kind === kind).length;
    return {
      messages,
      sent,
      chunks: chunks.filter(key => !short.has(idFromBytes<BlobId>(key))).length,
      uploads: keysOf(reader, blobUploadsTable).length,
      pending: {
        parse: count('parse'),
        authenticate: count('authenticate'),
        'purge-blob': count('purge-blob'),
        'purge-inbox': count('purge-inbox'),
        'purge-trash': count('purge-trash'),
        deliver: count('deliver'),
        relay: count('relay'),
        'relay-held': count('relay-held'),
        'expire-charges': count('expire-charges'),
        'purge-thread': count('purge-thread'),
        'expire-key': count('expire-key'),
        'expire-link': count('expire-link'),
        'expire-phrase': count('expire-phrase'),
        'feedback-digest': count('feedback-digest'),
        index: count('index'),
        'lapse-suppression': count('lapse-suppression'),
        'expire-upload': count('expire-upload'),
        'expire-events': count('expire-events'),
        'webhook-mail': count('webhook-mail'),
      },
      faults: [
        ...blobFaults(
          reader,
          [
            ...messages.flatMap(blobsOf),
            ...sent.flatMap(blobsOfSent),
            ...drafts.flatMap(blobsOfDraft),
            ...entriesOf(reader, fileUploadsTable).map(({ value }) => value.blob),
          ],
          chunks,
        ),
        ...recordFaults(reader, messages),
        ...sentFaults(reader, sent),
        ...chargeFaults(reader, sent),
        ...listFaults(reader, [...messages, ...sent]),
        ...counterFaults(reader, [...messages, ...sent]),
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
      const { messages, sent, ...counts } = facts;
      const shown = JSON.stringify({
        ...counts,
        messages: messages.map(({ id, status }) => `${id} ${status}`),
        sent: sent.map(({ id, attempt, status }) => `${id} ${attempt} ${status}`),
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

/** Nothing is left to be done: no parsing, no indexing, no purge, no upload. */
export function isAtRest(facts: StoreFacts): boolean {
  return isAtRestButForTheIndex(facts) && facts.pending.index === 0;
}

/** As `isAtRest`, where the disk is at its floor: what the search index has to learn waits there. */
export function isAtRestButForTheIndex({ uploads, pending }: StoreFacts): boolean {
  const purges = pending['purge-blob'] + pending['purge-inbox'] + pending['purge-thread'];
  return uploads + pending.parse + purges === 0;
}

const EVERYTHING = { from: Buffer.alloc(0), to: Buffer.alloc(64, 0xff), limit: 10_000_000 };

function entriesOf<Key, Value>(reader: Reader, table: Table<Key, Value>): Entry<Value>[] {
  return reader.scan(table, EVERYTHING);
}

function keysOf<Key, Value>(reader: Reader, table: Table<Key, Value>): Buffer[] {
  return reader.scanKeys(table, EVERYTHING);
}

function blobsOf(record: ReceivedRecord): BlobRef[] {
  const { raw, content } = record;
  return [raw, ...(content === null ? [] : [content]), ...attachmentBlobs(record)];
}

function blobsOfSent({ files, content }: SentRecord): BlobRef[] {
  return [content, ...files.map(({ blob }) => blob)];
}

function blobsOfDraft({ files, text, html }: DraftRecord): BlobRef[] {
  return [text, html, ...files.map(({ blob }) => blob)].filter(blob => blob !== null);
}

/** Every chunk belongs to a blob that is whole, owned as often as it says, being uploaded, or being freed. */
function blobFaults(reader: Reader, refs: readonly BlobRef[], chunkKeys: Buffer[]): string[] {
  const found = new Map<BlobId, number>();
  for (const key of chunkKeys) {
    const id = idFromBytes<BlobId>(key);
    found.set(id, (found.get(id) ?? 0) + 1);
  }
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
    const hasContent = record.content !== null;
    if (hasContent !== (status === 'ready')) faults.push(`message ${id}: ${status}, content ${hasContent}`);
  }
  for (const entry of owed) faults.push(`pending entry ${entry} without its message`);
  return faults;
}

/** An attempt, its pending entry, its line and its bodies agree. */
function sentFaults(reader: Reader, sent: readonly SentRecord[]): string[] {
  const faults: string[] = [];
  const owed = new Set(
    entriesOf(reader, pendingTable)
      .filter(({ value }) => value.kind === 'relay' || value.kind === 'relay-held')
      .map(({ key, value }) => `${value.kind} ${value.id} ${key.readUIntBE(1, 6)}`),
  );
  for (const { id, inboxId, seq, status, attempt, relayDueAt, trash } of sent) {
    const kind = attempt === 'held' ? 'relay-held' : 'relay';
    if (attempt !== 'settled' && !owed.delete(`${kind} ${id} ${relayDueAt}`))
      faults.push(`sent message ${id}: ${attempt}, and not pending`);
    const bytes = reader.get(summariesTable, { inboxId, kind: 'sent', seq });
    const line = bytes === undefined ? null : (JSON.parse(bytes.toString('utf8')) as Record<string, unknown>);
    if (trash !== null ? line !== null : line?.id !== id || line.status !== status)
      faults.push(`sent message ${id}: another line`);
  }
  return [...faults, ...[...owed].map(entry => `pending entry ${entry} without its attempt`)];
}

/** Charges add up to their sums, and none is left of a message that was rejected. */
function chargeFaults(reader: Reader, sent: readonly SentRecord[]): string[] {
  const rejected = new Set<string>(sent.filter(({ status }) => status === 'rejected').map(({ id }) => id));
  const sums = new Map<string, number>();
  const faults: string[] = [];
  for (const { key, value } of entriesOf(reader, chargesTable)) {
    const accountId = idFromBytes(key);
    sums.set(accountId, (sums.get(accountId) ?? 0) + value);
    if (rejected.has(idFromBytes(key, 22))) faults.push(`a charge for ${idFromBytes(key, 22)}, rejected`);
  }
  for (const { key, value } of entriesOf(reader, chargeSumsTable)) {
    const accountId = idFromBytes(key);
    const sum = sums.get(accountId) ?? 0;
    if (sum !== value.sum) faults.push(`charges of ${accountId}: ${sum}, summed up as ${value.sum}`);
    sums.delete(accountId);
  }
  return [...faults, ...[...sums].map(([id, sum]) => `charges of ${id}: ${sum}, summed up nowhere`)];
}

/** Lists have the live messages, Trash has the others. */
function listFaults(reader: Reader, messages: readonly IndexedMessage[]): string[] {
  const faults: string[] = [];
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

function counterFaults(reader: Reader, messages: readonly IndexedMessage[]): string[] {
  const counts = new Map<string, { readonly one: IndexedMessage; live: number }>();
  for (const one of messages) {
    const key = `${one.kind} messages of inbox ${one.inboxId}`;
    const count = counts.get(key) ?? { one, live: 0 };
    if (one.trash === null) count.live += 1;
    counts.set(key, count);
  }
  return [...counts]
    .map(([name, { one, live }]) => ({ name, live, counted: getCounters(reader, one).live }))
    .filter(({ live, counted }) => live !== counted)
    .map(({ name, live, counted }) => `${name}: ${live} live, counted ${counted}`);
}
