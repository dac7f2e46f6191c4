import { type BlobId, idToBytes } from '../../domain/ids.js';
import { joinKey, range, u32 } from '../engine/keys.js';
import type { Store } from '../engine/store.js';
import { copyValue, jsonValue, type Reader, rawValue, type Table, type Writer } from '../engine/tables.js';
import { addPending } from './pending.js';

/**
 * Blobs: raw MIME, contents, texts and files, in chunks. A chunk with LMDB's 16-byte page header fills
 * sixteen pages of 4 KiB exactly; whole values of 25 MiB would block the loop for 100 ms and more.
 */
export const CHUNK_BYTES = 65_536 - 16;

export interface BlobRef {
  readonly id: BlobId;
  /** Size in bytes. */
  readonly size: number;
}

export const blobChunksTable: Table<{ id: BlobId; index: number }, Buffer> = {
  name: 'blob_chunks',
  encodeKey: key => joinKey(idToBytes(key.id), u32(key.index)),
  ...rawValue,
};

/** Blobs with more than one owner -> how many owners. A blob that is not here has one. */
export const blobOwnersTable: Table<BlobId, number> = {
  name: 'blob_owners',
  encodeKey: idToBytes,
  ...jsonValue<number>(1),
};

/** Blobs whose upload has begun and not finished: what the boot sweep frees. */
export const blobUploadsTable: Table<BlobId, number> = {
  name: 'blob_uploads',
  encodeKey: idToBytes,
  ...jsonValue<number>(1),
};

export function chunkCount(size: number): number {
  return Math.ceil(size / CHUNK_BYTES);
}

export function getChunk(reader: Reader, id: BlobId, index: number): Buffer | undefined {
  return reader.get(blobChunksTable, { id, index });
}

/** Says that `owners` records refer to a blob that has just been stored. */
export function setBlobOwners(writer: Writer, id: BlobId, owners: number): void {
  if (owners > 1) writer.put(blobOwnersTable, id, owners);
}

/** One owner more of a blob that has some. */
export function addBlobOwner(writer: Writer, id: BlobId): void {
  writer.put(blobOwnersTable, id, (writer.get(blobOwnersTable, id) ?? 1) + 1);
}

/** One owner less; after the last one the bytes are left to the sweeper, from `dueAt` on. */
export function releaseBlob(writer: Writer, id: BlobId, dueAt: number): void {
  const owners = writer.get(blobOwnersTable, id) ?? 1;
  if (owners > 2) writer.put(blobOwnersTable, id, owners - 1);
  else if (owners === 2) writer.remove(blobOwnersTable, id);
  else addPending(writer, dueAt, { kind: 'purge-blob', id });
}

/** Removes up to `limit` chunks of a blob and says how many there were: fewer than `limit`, none is left. */
export function removeChunks(writer: Writer, id: BlobId, limit: number): number {
  const keys = writer.scanKeys(blobChunksTable, { ...range(idToBytes(id)), limit });
  for (const key of keys) writer.remove(blobChunksTable, { id, index: key.readUInt32BE(16) });
  return keys.length;
}

/** The bytes of a blob are not all there: damage, or it was deleted while it was read. */
export class BlobMissingError extends Error {
  constructor(ref: BlobRef, index: number) {
    super(`chunk ${index} of blob ${ref.id} is missing`);
    this.name = 'BlobMissingError';
  }
}

/**
 * The bytes of a blob in order, all of them or a part, chunk by chunk. Each chunk is its own short read, so that a slow
 * consumer never holds a snapshot: a stale reader would make the file grow.
 * @param start offset of the first byte
 * @param end offset behind the last one
 * @throws BlobMissingError
 */
export async function* readBlob(
  store: Store,
  ref: BlobRef,
  start = 0,
  end = ref.size,
): AsyncGenerator<Buffer, void, undefined> {
  const first = Math.floor(start / CHUNK_BYTES);
  // An empty blob has an empty chunk.
  const count = end === 0 ? 1 : chunkCount(end);
  for (let index = first; index < count; index++) {
    const chunk = store.read(reader => getChunk(reader, ref.id, index));
    if (chunk === undefined) throw new BlobMissingError(ref, index);
    const at = index * CHUNK_BYTES;
    yield chunk.subarray(Math.max(0, start - at), Math.max(0, end - at));
  }
}

/**
 * Fills `target`, of the size of the blob, with all of its bytes in one read, which blocks: for one of few chunks.
 * @throws BlobMissingError
 */
export function readBlobInto(store: Store, ref: BlobRef, target: Uint8Array): void {
  store.read(reader => {
    let at = 0;
    for (let index = 0; at < ref.size; index++) {
      const copied = copyValue(reader, blobChunksTable, { id: ref.id, index }, target, at);
      if (copied === undefined || copied === 0) throw new BlobMissingError(ref, index);
      at += copied;
    }
  });
}
