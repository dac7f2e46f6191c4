import { join } from 'node:path';
import type { Test } from 'tap';
import type { Store } from '../../../../src/store/engine/store.js';
import { openMigratedStore } from '../../../../src/store/open-store.js';
import { type BackedUp, backUp } from '../../../../src/usecases/upkeep/back-up.js';
import { type Restored, restoreBackup } from '../../../../src/usecases/upkeep/restore.js';
import { dataDirectory, storeOptions } from '../../store/with-store.js';

const MAP = 2 ** 30;
type Source = { readonly store: Store; readonly clock: () => number };

/** A new folder for a backup, gone after the test. */
export const backupFolder = (t: Test): string => join(dataDirectory(t), 'backup');

export function backUpInto(
  { store, clock }: Source,
  directory: string,
  files: Parameters<typeof backUp>[1]['files'] = [],
): Promise<BackedUp> {
  return backUp(
    { store, clock, version: '1.2.3', diskFloorBytes: 0, mapSizeBytes: MAP },
    { directory, files, onProgress: () => {} },
  );
}

export function restoreInto(
  path: string,
  directory: string,
  clock: () => number = Date.now,
): Promise<Restored> {
  return restoreBackup({ clock, path, mapSizeBytes: MAP, diskFloorBytes: 0 }, directory, () => {});
}

/** Backs a store up and opens what a restore makes of that, in another directory. */
export async function restoredFrom(
  t: Test,
  source: Source,
): Promise<{ readonly store: Store; readonly restored: Restored }> {
  const folder = backupFolder(t);
  await backUpInto(source, folder);
  const path = dataDirectory(t);
  const restored = await restoreInto(path, folder, source.clock);
  const store = await openMigratedStore(storeOptions(path));
  t.teardown(() => store.close());
  return { store, restored };
}
