import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Store, storeFolder } from './engine/store.js';
import { storeFile } from './engine/store-file.js';
import { flush } from './private-files.js';

/** The copy while it is written, beside the file that it will replace. */
const UNFINISHED = 'compact.unfinished';

export interface Compaction {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** Bytes of the file of a store, and about how many a copy without its free pages takes. */
export function sizesOf(store: Store): { readonly fileBytes: number; readonly copyBytes: number } {
  const fileBytes = statSync(storeFile(store.path)).size;
  // Pages of the copy itself, and what its trees may be packed worse by.
  return { fileBytes, copyBytes: Math.ceil(store.usedBytes() * 1.01) + 2 ** 20 };
}

/**
 * Replaces the file of a store by a copy without free pages, so that they are given back to the file system. The store
 * serves nobody but this process, and is closed afterwards.
 *
 * Whenever the process or the machine ends, one whole store lies under the name: the copy is flushed before it is
 * renamed, and a rename is done or not. What another process commits meanwhile is not lost: the rename happens inside a
 * unit of work, which keeps others from committing, and only if nothing was committed since the copy began. Units that
 * wait for it, or come later from a process that still has the old file open, are refused (`StoreReplacedError`).
 */
export async function compactStore(store: Store): Promise<Compaction> {
  const folder = storeFolder(store.path);
  const file = storeFile(store.path);
  const bytesBefore = statSync(file).size;
  const unfinished = join(folder, UNFINISHED);
  for (;;) {
    const copied = await copyWhole(store, unfinished);
    const isReplaced = await store.replaceFile(copied, () => {
      renameSync(join(unfinished, 'data.mdb'), file);
      // It says which commit of the old file was the last.
      rmSync(join(folder, 'lock.mdb'), { force: true });
      flush(folder);
    });
    if (isReplaced) break;
  }
  rmSync(unfinished, { recursive: true, force: true });
  return { bytesBefore, bytesAfter: statSync(file).size };
}

/**
 * Writes a copy without free pages as the store of another data directory, which has none yet. The store stays as it
 * is.
 */
export async function compactInto(store: Store, directory: string): Promise<Compaction> {
  const folder = storeFolder(directory);
  const file = storeFile(directory);
  if (existsSync(file)) throw new Error(`there is a store in ${directory} already`);
  const unfinished = join(folder, UNFINISHED);
  await copyWhole(store, unfinished);
  renameSync(join(unfinished, 'data.mdb'), file);
  flush(folder);
  rmSync(unfinished, { recursive: true, force: true });
  return {
    bytesBefore: statSync(storeFile(store.path)).size,
    bytesAfter: statSync(file).size,
  };
}

/** Removes the copy that a process left behind which ended while it was written. */
export function removeUnfinishedCopy({ path }: Store): void {
  rmSync(join(storeFolder(path), UNFINISHED), { recursive: true, force: true });
}

/** Flushed to its last byte when it resolves. Says which commit was the last that it can hold. */
async function copyWhole(store: Store, directory: string): Promise<number> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lastCommit = store.lastCommit();
  await store.copyTo(directory);
  flush(join(directory, 'data.mdb'));
  flush(directory);
  return lastCommit;
}
