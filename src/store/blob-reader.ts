import { type BlobRef, chunkCount, getChunk } from './blobs.js';
import type { Store } from './store.js';

/** The bytes of a blob are not all there: damage, or it was deleted while it was read. */
export class BlobMissingError extends Error {
  constructor(ref: BlobRef, index: number) {
    super(`chunk ${index} of blob ${ref.id} is missing`);
    this.name = 'BlobMissingError';
  }
}

/**
 * The chunks of a blob in order. Each chunk is its own short read, so that a slow consumer never holds a
 * snapshot: a stale reader would make the file grow.
 * @throws BlobMissingError
 */
export async function* readBlob(store: Store, ref: BlobRef): AsyncGenerator<Buffer, void, undefined> {
  const count = Math.max(1, chunkCount(ref.size));
  for (let index = 0; index < count; index++) {
    const chunk = store.read(reader => getChunk(reader, ref.id, index));
    if (chunk === undefined) throw new BlobMissingError(ref, index);
    yield chunk;
  }
}
