import { statSync } from 'node:fs';
import { refuse } from '../../domain/errors.js';
import { reasonOf } from '../../lib/async.js';
import { BackupUnusableError } from '../../store/backup/manifest.js';
import {
  type BackupProgress,
  type FileToKeep,
  type WrittenBackup,
  writeBackup,
} from '../../store/backup/write-backup.js';
import { putMeta, removeBackupLease } from '../../store/engine/meta.js';
import { NoRoomError } from '../../store/engine/room.js';
import { type Store, StoreFailedError } from '../../store/engine/store.js';
import { storeFile } from '../../store/engine/store-file.js';
import type { Clock } from '../ports.js';
import { claimLease } from './claim-lease.js';

export interface BackUpDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly version: string;
  readonly diskFloorBytes: number;
  readonly mapSizeBytes: number;
}

export interface BackUpInput {
  readonly directory: string;
  readonly files: readonly FileToKeep[];
  readonly onProgress: (progress: BackupProgress) => void;
  /** Called before anything is copied, when no other backup can be under way. */
  readonly begin?: () => void;
  /**
   * Takes the finished backup to where it stays, while no other can begin.
   * @returns its path; without this it stays in `directory`
   */
  readonly finish?: (written: WrittenBackup) => Promise<string>;
}

export interface BackedUp extends WrittenBackup {
  /** Where it lies. */
  readonly path: string;
  /** By how much the file of the store grew while the backup was made, from all that was written meanwhile. */
  readonly growthBytes: number;
}

/**
 * Makes a backup of the store, or brings the one in the folder up to date, while a daemon may serve (`store/backup`). One
 * at a time.
 * @throws invalid_request when another one is being made, insufficient_room when the disk of the backup is full
 */
export async function backUp(deps: BackUpDeps, input: BackUpInput): Promise<BackedUp> {
  const { store, clock, version, diskFloorBytes, mapSizeBytes } = deps;
  const lease = await claimLease(store, {
    name: 'backup',
    facts: { startedAt: clock() },
    refusal: ({ pid }) =>
      refuse(
        'invalid_request',
        `Another backup of this store is being made (pid ${pid}). Nothing was changed: wait for it.`,
      ),
    remove: removeBackupLease,
  });
  try {
    input.begin?.();
    const sizeBefore = fileBytes(store);
    const options = { ...input, version, clock, diskFloorBytes, mapSizeBytes };
    const written = await writeBackup(store, options).catch((error: unknown) => {
      throw error instanceof StoreFailedError ? new BackupUnusableError(unwritable(input, error)) : error;
    });
    const path = (await input.finish?.(written)) ?? input.directory;
    const { manifest } = written;
    const last = {
      snapshotAt: Date.parse(manifest.snapshot_at),
      finishedAt: Date.parse(manifest.finished_at),
      path,
      bytes: manifest.records.bytes + manifest.blobs.bytes,
    };
    await store.write(writer => putMeta(writer, 'lastBackup', last), 'settle');
    return { ...written, path, growthBytes: fileBytes(store) - sizeBefore };
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    throw refuse(
      'insufficient_room',
      `The disk of ${input.directory} is full: the backup was not finished, and the one from before is as it was. What was copied stays: make room and run it again, it goes on from there.`,
    );
  } finally {
    await lease.release();
  }
}

function unwritable({ directory }: BackUpInput, error: StoreFailedError): string {
  return `The backup in ${directory} could not be written (${reasonOf(error.cause)}), and was not finished; the one from before is as it was. See to the disk of that folder, then run it again: it goes on.`;
}

function fileBytes({ path }: Store): number {
  return statSync(storeFile(path)).size;
}
