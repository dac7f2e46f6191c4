import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { refuse } from '../../domain/errors.js';
import { fillFromBackup } from '../../store/backup/fill-from-backup.js';
import { BackupUnusableError, type Manifest, placeOf } from '../../store/backup/manifest.js';
import { type OpenBackup, openBackup } from '../../store/backup/open-backup.js';
import { freeBytesAt, inMib } from '../../store/engine/disk.js';
import { getMeta } from '../../store/engine/meta.js';
import { type Store, type StoreOptions, storeExists, storeFolder } from '../../store/engine/store.js';
import { openRestored, openStore, openStoreReadOnly } from '../../store/open-store.js';
import { makeOwnFolder } from '../../store/own-folder.js';
import { flush, privateFolder } from '../../store/private-files.js';
import { verifyStore } from '../../store/verify/verify-store.js';
import type { Clock } from '../ports.js';
import { markRestored, type RestoreMarks } from './mark-restored.js';

export interface RestoreDeps {
  readonly clock: Clock;
  /** The data directory that is to be filled. */
  readonly path: string;
  readonly mapSizeBytes: number;
  readonly diskFloorBytes: number;
}

export type RestoreProgress =
  | { readonly step: 'copy'; readonly done: number; readonly total: number }
  | { readonly step: 'verify' };

export interface Restored {
  readonly snapshotAt: string;
  readonly version: string;
  readonly storeId: string;
  readonly messages: number;
  readonly sent: number;
  readonly marks: RestoreMarks;
  /** Configuration and keys as they were, in the backup. */
  readonly files: readonly { readonly path: string; readonly copy: string }[];
}

/** Where the store is made, inside the data directory: on its disk, and whoever restores may write there. */
export const STAGING = 'restoring';
/** What an empty file system may hold. */
const NO_CONTENT: readonly string[] = [STAGING, 'lost+found'];
const SPARE_BYTES = 64 * 2 ** 20;

/**
 * Makes the store of an empty data directory from a backup. It is made aside, verified and then put in place by one
 * rename: whenever the process ends, there is the whole store or none. Others may be made at the same time: the first
 * that is ready is the one.
 * @param source where the backup lies, or what unpacks it into a folder that is gone afterwards, and says where to
 * @throws invalid_request when the directory is not empty, insufficient_room, BackupUnusableError
 */
export async function restoreBackup(
  deps: RestoreDeps,
  source: string | ((folder: string) => Promise<string>),
  onProgress: (progress: RestoreProgress) => void,
): Promise<Restored> {
  const path = privateFolder(deps.path);
  checkEmpty(path);
  const own = await makeOwnFolder(join(path, STAGING), 'restore');
  try {
    const directory =
      typeof source === 'string' ? source : await source(privateFolder(join(own.path, 'backup')));
    const backup = openBackup(directory);
    try {
      checkRoom(deps, backup);
      const staging = join(own.path, 'data');
      const done = await fill({ ...deps, path: staging }, backup, onProgress);
      checkEmpty(path);
      renameSync(storeFolder(staging), storeFolder(path));
      flush(path);
      return { ...done, files: filesOf(directory, backup) };
    } finally {
      await backup.store.close();
    }
  } finally {
    await own.remove();
  }
}

function checkEmpty(path: string): void {
  if (storeExists(path)) {
    throw refuse(
      'invalid_request',
      `There is a store in ${path}, which a restore does not overwrite. Nothing was changed. Stop the daemon and move ${path} away, or name another store.path.`,
    );
  }
  const [other] = readdirSync(path).filter(name => !NO_CONTENT.includes(name));
  if (other === undefined) return;
  throw refuse(
    'invalid_request',
    `${path} is not empty (${other} is in it), and a restore fills only an empty store.path. Nothing was changed. Move what is in it away, or name another store.path.`,
  );
}

function checkRoom({ path, diskFloorBytes }: RestoreDeps, { manifest }: OpenBackup): void {
  const freeBytes = freeBytesAt(path);
  const neededBytes =
    Math.ceil(1.05 * (manifest.records.bytes + manifest.blobs.bytes)) + SPARE_BYTES + diskFloorBytes;
  if (freeBytes >= neededBytes) return;
  throw refuse(
    'insufficient_room',
    `The store needs about ${inMib(neededBytes)} in ${path} (${inMib(diskFloorBytes)} of them as the floor that stays free), and ${inMib(freeBytes)} are free. Nothing was changed. Free some, or set store.path to another disk.`,
  );
}

async function fill(
  { clock, path, mapSizeBytes, diskFloorBytes }: RestoreDeps,
  backup: OpenBackup,
  onProgress: (progress: RestoreProgress) => void,
): Promise<Omit<Restored, 'files'>> {
  const options: StoreOptions = { path: privateFolder(path), mapSizeBytes, diskFloorBytes };
  const raw = openStore(options);
  try {
    await fillFromBackup(backup, raw, progress => onProgress({ step: 'copy', ...progress }));
  } finally {
    await raw.close();
  }
  const { manifest } = backup;
  const store = await openRestored(options, found => checkOrigin(found, manifest));
  let marks: RestoreMarks;
  try {
    marks = await markRestored({ store, clock }, Date.parse(manifest.snapshot_at));
  } finally {
    await store.close();
  }
  onProgress({ step: 'verify' });
  const { messages, sent } = await verify(path);
  flush(storeFolder(path));
  return {
    snapshotAt: manifest.snapshot_at,
    version: manifest.version,
    storeId: manifest.store_id,
    messages,
    sent,
    marks,
  };
}

/** The store is the one that was just filled, and none that LMDB has made because that one was gone. */
function checkOrigin(store: Store, { schema, store_id }: Manifest): void {
  const found = store.read(reader => ({
    schema: getMeta(reader, 'schema') ?? 0,
    id: getMeta(reader, 'identity')?.id ?? '',
  }));
  if (found.schema === schema && found.id === store_id) return;
  throw new BackupUnusableError(
    `The store that was made is not that of the backup: it has schema ${found.schema} and id "${found.id}", the manifest says ${schema} and "${store_id}". Nothing was put in place. Run it again, or take another backup.`,
  );
}

async function verify(path: string): Promise<{ readonly messages: number; readonly sent: number }> {
  const store = openStoreReadOnly(storeFolder(path));
  try {
    const { checked, faults } = verifyStore(store);
    if (faults.length === 0) return checked;
    throw new BackupUnusableError(
      `The store that the backup makes does not hold together, so nothing was put in place:\n${faults.slice(0, 20).join('\n')}\nTake another backup.`,
    );
  } finally {
    await store.close();
  }
}

function filesOf(directory: string, { manifest }: OpenBackup): Restored['files'] {
  const folder = placeOf.files(directory, manifest.snapshot);
  return manifest.files.map(({ path, name }) => ({ path, copy: join(folder, name) }));
}
