import type { BlobUpload } from '../store/blob-upload.js';
import { CHUNK_BYTES } from '../store/blobs.js';

/** Writes bytes that are in memory, no faster than the store takes them. */
export async function uploadWhole(upload: BlobUpload, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (!upload.write(bytes.subarray(at, at + CHUNK_BYTES))) await upload.drained();
  }
}
