import { type BlobId, idFromBytes, idToBytes } from '../domain/ids.js';
import { type BlobRef, blobChunksTable, blobOwnersTable, blobUploadsTable, CHUNK_BYTES } from './blobs.js';
import { joinKey, u32 } from './key-codec.js';
import type { Reader } from './reader-writer.js';
import type { Ledger } from './verify-ledger.js';
import { walkTable } from './walk-table.js';

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

/** Finds every blob, as often as it has owners, by reading all of its bytes. */
export function findBlobs(reader: Reader, ledger: Ledger): void {
  for (const run of chunkRuns(reader)) ledger.find(run.entry(), reader.get(blobOwnersTable, run.id) ?? 1);
  for (const { key, value } of walkTable(reader, blobOwnersTable)) {
    const id = idFromBytes<BlobId>(key);
    if (value < 2) ledger.find(`number of owners ${value} of blob ${id}`);
    if (!reader.has(blobChunksTable, { id, index: 0 }))
      ledger.find(`number of owners of blob ${id}, which is not there`);
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
  const to = joinKey(idToBytes(id), u32(0xffff_ffff));
  for (let from = joinKey(idToBytes(id), u32(0)); ; ) {
    const page = reader.scan(blobChunksTable, { from, to, limit: CHUNKS_AT_ONCE });
    for (const { key, value } of page) run.add(key.readUInt32BE(16), value.length);
    const last = page.at(-1);
    if (last !== undefined) hasChunks = true;
    if (page.length < CHUNKS_AT_ONCE || last === undefined) break;
    from = joinKey(last.key, Buffer.of(0));
  }
  if (hasChunks) ledger.expect(run.entry());
}

const CHUNKS_AT_ONCE = 16;
