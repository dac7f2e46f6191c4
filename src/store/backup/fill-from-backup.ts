import { type BlobId, idFromBytes } from '../../domain/ids.js';
import type { Store } from '../engine/store.js';
import {
  chunkSumsTable,
  entryPages,
  ID_BYTES,
  listedBlobsTable,
  RECORD_TABLES,
  type Read,
  rawChunks,
  rawTable,
  sumOf,
} from './backup-tables.js';
import { BatchWriter } from './batch-writer.js';
import { BackupUnusableError } from './manifest.js';
import type { OpenBackup } from './open-backup.js';

/** How far a store has been filled, in bytes. */
export interface FillProgress {
  readonly done: number;
  readonly total: number;
}

/**
 * Fills an empty store with what a backup holds, chunk by chunk, each held against its sum.
 * @throws BackupUnusableError when a chunk is not as it was written
 */
export async function fillFromBackup(
  { manifest, store: backup }: OpenBackup,
  target: Store,
  onProgress: (progress: FillProgress) => void,
): Promise<void> {
  const total = manifest.records.bytes + manifest.blobs.bytes;
  const out = new BatchWriter(target);
  let done = 0;
  const read: Read = work => backup.read(work);
  for (const { name } of RECORD_TABLES) {
    const table = rawTable(name);
    for (const page of entryPages(read, table)) {
      for (const { key, value } of page) {
        if (!out.put({ table, key, value })) await out.flushed();
        done += key.length + value.length;
      }
      onProgress({ done: Math.min(done, total), total });
    }
  }
  for (const page of entryPages(read, rawChunks)) {
    for (const { key, value } of page) {
      const id = idFromBytes<BlobId>(key);
      const index = key.readUInt32BE(ID_BYTES);
      const [chunks, sum] = read(reader => [
        reader.get(listedBlobsTable, id) ?? 0,
        reader.get(chunkSumsTable, key),
      ]);
      if (index >= chunks) continue;
      if (sum !== sumOf(value)) {
        throw new BackupUnusableError(
          `The backup is damaged: chunk ${index} of blob ${id} is not as it was written. Nothing was restored. "postern verify" names all faults; take another backup.`,
        );
      }
      if (!out.put({ table: rawChunks, key, value })) await out.flushed();
      done += value.length;
    }
    onProgress({ done: Math.min(done, total), total });
  }
  await out.end();
}
