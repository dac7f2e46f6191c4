import { type BlobId, type InboxId, idFromBytes, idToBytes } from '../../domain/ids.js';
import { walkSets } from '../bitmap/sets.js';
import { range } from '../engine/keys.js';
import { type Reader, walkTable } from '../engine/tables.js';
import {
  FIRST_SEQ,
  type Folder,
  folderCountersTable,
  folderOfKey,
  type MessageKind,
  seqOfKey,
  summariesTable,
} from '../mailbox/folders.js';
import {
  hashedAddress,
  labelCountsTable,
  readTermKey,
  type StoredTerm,
  type Term,
} from '../mailbox/postings.js';
import {
  type BlobRef,
  blobChunksTable,
  blobOwnersTable,
  blobUploadsTable,
  CHUNK_BYTES,
} from '../records/blobs.js';
import type { Ledger } from './ledger.js';

/** How entries of a folder's indexes are called, by whoever expects or finds them. */
export const folderEntry = {
  summary: (folder: Folder, seq: number): string => `line of ${placeOf(folder, seq)}`,
  /** Every number that was given is live or gone. */
  number: (folder: Folder, seq: number): string => `state of ${placeOf(folder, seq)}`,
  member: (folder: Folder, seq: number, term: Exclude<Term, { type: 'gone' }>): string =>
    memberEntry(folder, seq, asStored(term)),
};

function asStored(term: Exclude<Term, { type: 'gone' }>): Exclude<StoredTerm, { type: 'gone' }> {
  return 'address' in term ? { type: term.type, hash: hashedAddress(term.address).toString('hex') } : term;
}

function placeOf({ inboxId, kind }: Folder, seq: number): string {
  return `${kind} message number ${seq} of inbox ${inboxId}`;
}

function memberEntry(folder: Folder, seq: number, term: Exclude<StoredTerm, { type: 'gone' }>): string {
  return `${nameOfTerm(term)} of ${placeOf(folder, seq)}`;
}

function nameOfTerm(term: Exclude<StoredTerm, { type: 'gone' }>): string {
  switch (term.type) {
    case 'label':
      return `label ${JSON.stringify(term.label)}`;
    case 'thread':
      return `thread ${term.root}`;
    case 'authentication':
      return `authentication ${term.verdict}`;
    default:
      return `${term.type} ${term.hash}`;
  }
}

const labelCountEntry = (inboxId: InboxId, kind: MessageKind, label: string, count: number): string =>
  `count ${count} of ${kind} messages with label ${JSON.stringify(label)} of inbox ${inboxId}`;

/** Finds what the sets hold, and expects the counts of labels that follow from them. */
export function findSets(reader: Reader, ledger: Ledger, isLeaving: (inboxId: InboxId) => boolean): void {
  let label: { readonly folder: Folder; readonly name: string; count: number } | null = null;
  const closeLabel = (): void => {
    if (label !== null) {
      ledger.expect(labelCountEntry(label.folder.inboxId, label.folder.kind, label.name, label.count));
    }
    label = null;
  };
  for (const { set, size, seqs } of walkSets(reader)) {
    const { folder, term } = readTermKey(set);
    if (term.type !== 'label' || label?.name !== term.label || !isSame(label.folder, folder)) closeLabel();
    if (term.type === 'label') {
      label ??= { folder, name: term.label, count: 0 };
      label.count += size;
    }
    if (term.type === 'gone' && isLeaving(folder.inboxId)) continue;
    for (const seq of seqs) {
      ledger.find(term.type === 'gone' ? folderEntry.number(folder, seq) : memberEntry(folder, seq, term));
    }
  }
  closeLabel();
}

function isSame(a: Folder, b: Folder): boolean {
  return a.inboxId === b.inboxId && a.kind === b.kind;
}

const INBOX_BYTES = 16;

/** Finds the counts that the store keeps of labels. */
export function findLabelCounts(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, labelCountsTable)) {
    const inboxId = idFromBytes<InboxId>(key);
    const label = key.toString('utf8', INBOX_BYTES);
    for (const kind of ['received', 'sent'] as const) {
      if (value[kind] > 0) ledger.find(labelCountEntry(inboxId, kind, label, value[kind]));
    }
    if (value.received + value.sent === 0) {
      ledger.find(`empty count of label ${JSON.stringify(label)} of inbox ${inboxId}`);
    }
  }
}

/** Finds the lines that lists show. */
export function findSummaries(reader: Reader, ledger: Ledger): void {
  for (const { key } of walkTable(reader, summariesTable)) {
    ledger.find(folderEntry.summary(folderOfKey(key), seqOfKey(key)));
  }
}

/** What the records of a folder come to. */
export interface FolderTally {
  live: number;
  lastSeq: number;
  lastAt: number;
  /** What its messages count for. */
  bytes: number;
}

/** Finds what counters say of each folder, and expects a state of every number that they gave. */
export function findCounters(
  reader: Reader,
  ledger: Ledger,
  tallies: ReadonlyMap<string, FolderTally>,
  isLeaving: (inboxId: InboxId) => boolean,
): void {
  for (const { key, value } of walkTable(reader, folderCountersTable)) {
    const folder = folderOfKey(key);
    const tally = tallies.get(tallyKey(folder));
    const lastSeq = Math.max(value.nextSeq - 1, 0);
    ledger.find(countersEntry(folder, value.live));
    if ((tally?.lastSeq ?? 0) > lastSeq) {
      ledger.find(`last number ${lastSeq} of ${nameOf(folder)}, with later messages`);
    }
    if ((tally?.lastAt ?? 0) > value.lastAt) {
      ledger.find(`last instant ${value.lastAt} of ${nameOf(folder)}, with later messages`);
    }
    if (tally === undefined) ledger.expect(countersEntry(folder, 0));
    if (isLeaving(folder.inboxId)) continue;
    ledger.find(bytesEntry(folder, value.bytes));
    ledger.expect(bytesEntry(folder, tally?.bytes ?? 0));
    for (let seq = FIRST_SEQ; seq < value.nextSeq; seq++) ledger.expect(folderEntry.number(folder, seq));
  }
  for (const [name, { live }] of tallies) ledger.expect(`counter of ${name}: ${live} live`);
}

export function tallyKey(folder: Folder): string {
  return nameOf(folder);
}

function bytesEntry(folder: Folder, bytes: number): string {
  return `bytes of ${nameOf(folder)}: ${bytes}`;
}

function nameOf({ inboxId, kind }: Folder): string {
  return `${kind} messages of inbox ${inboxId}`;
}

function countersEntry(folder: Folder, live: number): string {
  return `counter of ${nameOf(folder)}: ${live} live`;
}

/** How a blob that is all there is called. */
export function blobEntry({ id, size }: BlobRef): string {
  return `blob ${id} of ${size} bytes`;
}

/** Sizes of chunks in the order of their numbers, as they come by. */
class ChunkRun {
  readonly id: BlobId;
  #chunks = 0;
  #size = 0;
  /** A number was left out, or a chunk before the last was short. */
  #isBroken = false;

  constructor(id: BlobId) {
    this.id = id;
  }

  add(index: number, bytes: number): void {
    if (index !== this.#chunks || this.#size !== this.#chunks * CHUNK_BYTES) this.#isBroken = true;
    this.#chunks += 1;
    this.#size += bytes;
  }

  entry(): string {
    return this.#isBroken
      ? `remains of blob ${this.id}, ${this.#size} bytes in ${this.#chunks} chunks`
      : blobEntry({ id: this.id, size: this.#size });
  }
}

/**
 * Finds every blob, as often as it has owners, by reading all of its bytes.
 * @param isListed which of them count: a backup may hold others (`store/backup`)
 */
export function findBlobs(
  reader: Reader,
  ledger: Ledger,
  isListed: (reader: Reader, id: BlobId) => boolean,
): void {
  for (const run of chunkRuns(reader)) {
    if (isListed(reader, run.id)) ledger.find(run.entry(), reader.get(blobOwnersTable, run.id) ?? 1);
  }
  for (const { key, value } of walkTable(reader, blobOwnersTable)) {
    const id = idFromBytes<BlobId>(key);
    if (value < 2) ledger.find(`number of owners ${value} of blob ${id}`);
    if (!reader.has(blobChunksTable, { id, index: 0 })) {
      ledger.find(`number of owners of blob ${id}, which is not there`);
    }
  }
}

/** The chunks of each blob together. */
function* chunkRuns(reader: Reader): Generator<ChunkRun> {
  let run = null as ChunkRun | null;
  for (const { key, value } of walkTable(reader, blobChunksTable)) {
    const id = idFromBytes<BlobId>(key);
    if (run?.id !== id) {
      if (run !== null) yield run;
      run = new ChunkRun(id);
    }
    run.add(key.readUInt32BE(16), value.length);
  }
  if (run !== null) yield run;
}

/** Expects the chunks of uploads that have begun, as far as they have come. */
export function expectUploads(reader: Reader, ledger: Ledger): number {
  let count = 0;
  for (const { key } of walkTable(reader, blobUploadsTable)) {
    expectRemains(reader, ledger, idFromBytes<BlobId>(key));
    count += 1;
  }
  return count;
}

/** Expects what is left of a blob that is being freed or has not come to its end. */
export function expectRemains(reader: Reader, ledger: Ledger, id: BlobId): void {
  const run = new ChunkRun(id);
  let hasChunks = false;
  for (const { key, value } of walkTable(reader, blobChunksTable, range(idToBytes(id)), CHUNK_PAGES)) {
    run.add(key.readUInt32BE(16), value.length);
    hasChunks = true;
  }
  if (hasChunks) ledger.expect(run.entry());
}

/** A MiB at once. */
const CHUNK_PAGES = { first: 16, longest: 16 };
