import { BlobMissingError, readBlob } from '../store/blob-reader.js';
import type { BlobRef } from '../store/blobs.js';
import type { Store } from '../store/store.js';

/** A blob of known, modest size in one piece; null when a part of it is missing. */
export async function readWholeBlob(store: Store, ref: BlobRef): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of readBlob(store, ref)) parts.push(part);
  } catch (error) {
    if (error instanceof BlobMissingError) return null;
    throw error;
  }
  return Buffer.concat(parts, ref.size);
}
