import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The file that holds everything is not what LMDB wrote: mapping it would end the process with a signal. */
export class DamagedStoreError extends Error {
  constructor(file: string, what: string) {
    super(
      `${file} is no sound store: ${what}. Restore a backup of the data directory, or move the file away to start empty.`,
    );
    this.name = 'DamagedStoreError';
  }
}

/** Folder of the LMDB environment inside a data directory. */
export function storeFolder(path: string): string {
  return join(path, 'store');
}

export function storeFile(path: string): string {
  return join(storeFolder(path), 'data.mdb');
}

/** The inodes of the two files of an environment; null for one that is not there. */
export function filesOf(path: string): { readonly data: number | null; readonly lock: number | null } {
  const inodeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.ino ?? null;
  return { data: inodeOf(storeFile(path)), lock: inodeOf(join(storeFolder(path), 'lock.mdb')) };
}

/** Was a file that was there before the environment was opened another one afterwards? */
export function isReplaced(before: number | null, after: number | null): boolean {
  return before !== null && before !== after;
}

export function storeExists(path: string): boolean {
  return existsSync(storeFile(path));
}

/** Position and value of the magic number in a meta page: behind a page header of 24 bytes (mdb.c, MDB_meta). */
const MAGIC_AT = 24;
const MAGIC = 0xbeef_c0de;
/** Two meta pages of the smallest page size that is in use. */
const SMALLEST_STORE = 2 * 4096;

/**
 * Looks at the head of an existing store file; an absent or empty one will be made.
 * @throws DamagedStoreError
 */
export function checkStoreFile(path: string): void {
  const file = storeFile(path);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return;
  if (size < SMALLEST_STORE) throw new DamagedStoreError(file, `it has only ${size} bytes`);
  const head = Buffer.alloc(MAGIC_AT + 4);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, head, 0, head.length, 0);
  } finally {
    closeSync(handle);
  }
  if (head.readUInt32LE(MAGIC_AT) !== MAGIC) {
    throw new DamagedStoreError(file, 'its head is not that of a store');
  }
}
