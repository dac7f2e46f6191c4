import { type BlobId, idToBytes } from '../../../src/domain/ids.js';
import { joinKey, u32 } from '../../../src/store/engine/keys.js';
import type { Store } from '../../../src/store/engine/store.js';
import type { BlobUpload } from '../../../src/store/records/blob-upload.js';
import {
  type BlobRef,
  blobChunksTable,
  blobUploadsTable,
  readBlob,
} from '../../../src/store/records/blobs.js';
import { FIRST, LAST } from './lines.js';

/** Bytes that tell where in a blob they stand. */
export function pattern(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return bytes;
}

export async function upload(blob: BlobUpload, chunks: Iterable<Uint8Array>): Promise<void> {
  for (const chunk of chunks) if (!blob.write(chunk)) await blob.drained();
}

export function finish(store: Store, blob: BlobUpload): Promise<BlobRef> {
  return store.write(writer => blob.finish(writer));
}

export async function readAll(store: Store, ref: BlobRef): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readBlob(store, ref)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function countChunks(store: Store, id?: BlobId): number {
  const from = id === undefined ? FIRST : joinKey(idToBytes(id), u32(0));
  const to = id === undefined ? LAST : joinKey(idToBytes(id), u32(0xffff_ffff));
  return store.read(reader => reader.scanKeys(blobChunksTable, { from, to, limit: 1e6 })).length;
}

export function countUploads(store: Store): number {
  return store.read(reader => reader.scanKeys(blobUploadsTable, { from: FIRST, to: LAST, limit: 1e6 }))
    .length;
}
