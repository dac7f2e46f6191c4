import { crc32 } from 'node:zlib';
import { type BlobId, idToBytes } from '../../domain/ids.js';
import { joinKey, range, u8, u32, WHOLE_TABLE } from '../engine/keys.js';
import type { Store } from '../engine/store.js';
import { bytesKey, type Entry, type Reader, rawValue, type Scan, type Table } from '../engine/tables.js';
import { ALL_TABLES } from '../open-store.js';
import { blobChunksTable } from '../records/blobs.js';

/** Blobs of the snapshot -> how many chunks each has: a backup may hold others, of the snapshot before or after it. */
export const listedBlobsTable: Table<BlobId, number> = {
  name: 'backup_blobs',
  encodeKey: idToBytes,
  encodeValue: u32,
  decodeValue: bytes => bytes.readUIntBE(0, 4),
};

/** Chunk -> CRC-32 of its bytes: a disk that has kept a backup for years may have changed some. */
export const chunkSumsTable: Table<Buffer, number> = {
  name: 'chunk_sums',
  encodeKey: bytesKey,
  encodeValue: u32,
  decodeValue: bytes => bytes.readUIntBE(0, 4),
};

/** A table as it is kept, whatever it means. */
export function rawTable(name: string): Table<Buffer, Buffer> {
  return { name, encodeKey: bytesKey, ...rawValue };
}

export const rawChunks = rawTable(blobChunksTable.name);
export const rawSums = rawTable(chunkSumsTable.name);
export const rawListed = rawTable(listedBlobsTable.name);

/** What lies in the environment of the blobs. */
export const BLOB_TABLES = [blobChunksTable, chunkSumsTable] as const;
/** Tables of a store besides its blobs. */
export const RECORD_TABLES = ALL_TABLES.filter(({ name }) => name !== blobChunksTable.name);
/** What lies in the environment of the records. */
export const SNAPSHOT_TABLES = [...RECORD_TABLES, listedBlobsTable];

/** Bytes of an id at the beginning of a chunk's key. */
export const ID_BYTES = 16;

export function sumOf(chunk: Uint8Array): number {
  return crc32(chunk);
}

/** Reads one state of a store: the one of now, again and again, or one that is held. */
export type Read = <Result>(work: (reader: Reader) => Result) => Result;

/** Keys that are looked at in one read. */
const KEYS_A_PAGE = 2048;
/** Bytes that are read at once, about. */
const BYTES_A_PAGE = 2 * 2 ** 20;
const MOST_A_PAGE = 2048;

/** All keys of a table, page by page; each page is its own short read. */
export function* keyPages(read: Read, table: Table<Buffer, Buffer>): Generator<readonly Buffer[]> {
  for (let after: Buffer | null = null; ; ) {
    const scan: Scan = { ...range(WHOLE_TABLE, after), limit: KEYS_A_PAGE };
    const page: readonly Buffer[] = read(reader => reader.scanKeys(table, scan));
    if (page.length > 0) yield page;
    if (page.length < KEYS_A_PAGE) return;
    after = page.at(-1) ?? null;
  }
}

/** All entries of a table, page by page of some MiB; each page is its own short read. */
export function* entryPages(read: Read, table: Table<Buffer, Buffer>): Generator<readonly Entry<Buffer>[]> {
  let limit = 64;
  for (let after: Buffer | null = null; ; ) {
    const scan: Scan = { ...range(WHOLE_TABLE, after), limit };
    const page: readonly Entry<Buffer>[] = read(reader => reader.scan(table, scan));
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    after = page.at(-1)?.key ?? null;
    const bytes = page.reduce((sum, { value }) => sum + value.length, 1);
    limit = Math.max(1, Math.min(MOST_A_PAGE, 4 * limit, Math.floor((limit * BYTES_A_PAGE) / bytes)));
  }
}

/** Which of these keys, given in order, a table has. */
export function keysThere(
  store: Store,
  table: Table<Buffer, Buffer>,
  keys: readonly Buffer[],
): ReadonlySet<string> {
  const there = new Set<string>();
  const [first] = keys;
  const last = keys.at(-1);
  if (first === undefined || last === undefined) return there;
  const to = joinKey(last, u8(0));
  for (let from = first; ; ) {
    const scan: Scan = { from, to, limit: KEYS_A_PAGE };
    const page: readonly Buffer[] = store.read(reader => reader.scanKeys(table, scan));
    for (const key of page) there.add(key.toString('latin1'));
    const end = page.at(-1);
    if (page.length < KEYS_A_PAGE || end === undefined) return there;
    from = joinKey(end, u8(0));
  }
}
