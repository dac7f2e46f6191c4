import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A backup is a folder:
 *
 *     manifest.json     what the backup is; written last, so a folder without one is no backup yet
 *     blobs/store/      LMDB environment: the chunks of all blobs, each with its sum
 *     snapshot-N/store/ LMDB environment: everything else, of one instant, and which blobs belong to it
 *     snapshot-N/files/ the configuration and the files that it names
 *     unfinished.json   whose backup is being made; goes when the first one is complete
 *
 * Blobs never change, so the next run adds those that are new, writes a new snapshot beside the old one, and then
 * replaces the manifest. Whenever it ends, the backup is the old one or the new one. What only the old one needed goes
 * afterwards.
 */

export const MANIFEST_FORMAT = 1;

export interface BackedUpFile {
  /** Its name in `files/`. */
  readonly name: string;
  /** Where it was. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly format: number;
  readonly program: 'postern';
  /** Version of the program that wrote it. */
  readonly version: string;
  readonly schema: number;
  /** Tells whose store it is. */
  readonly store_id: string;
  readonly started_at: string;
  /** Whatever was acknowledged by then is in the backup. */
  readonly snapshot_at: string;
  readonly finished_at: string;
  /** Folder of the snapshot. */
  readonly snapshot: string;
  readonly records: { readonly entries: number; readonly bytes: number; readonly sha256: string };
  readonly blobs: {
    readonly count: number;
    readonly chunks: number;
    readonly bytes: number;
    /** The file has at least this length; backups of older versions do not tell. */
    readonly file_bytes?: number;
  };
  readonly files: readonly BackedUpFile[];
}

/** A folder is no backup, or not one that can be used. */
export class BackupUnusableError extends Error {
  override readonly name = 'BackupUnusableError';
}

const MANIFEST = 'manifest.json';
const UNFINISHED = 'unfinished.json';
const SNAPSHOT = /^snapshot-(\d{1,12})$/;

export const placeOf = {
  manifest: (directory: string): string => join(directory, MANIFEST),
  unfinished: (directory: string): string => join(directory, UNFINISHED),
  /** As a data directory: the environment lies in `store/` inside it. */
  blobs: (directory: string): string => join(directory, 'blobs'),
  snapshot: (directory: string, name: string): string => join(directory, name),
  files: (directory: string, name: string): string => join(directory, name, 'files'),
} as const;

/** Is there a backup, whatever it is worth? */
export function isBackup(directory: string): boolean {
  return existsSync(placeOf.manifest(directory));
}

/** Has somebody begun a backup there that was not finished? */
export function isUnfinishedBackup(directory: string): boolean {
  return !isBackup(directory) && existsSync(placeOf.unfinished(directory));
}

/** Whose backup was begun there; null when the note of it is damaged. */
export function unfinishedOwner(directory: string): string | null {
  return parse(readFileSync(placeOf.unfinished(directory), 'utf8'))?.store_id ?? null;
}

/** @throws BackupUnusableError */
export function readManifest(directory: string): Manifest {
  if (isUnfinishedBackup(directory)) {
    throw new BackupUnusableError(
      `The backup in ${directory} was never finished, so there is nothing whole in it. Run "postern backup ${directory}" again where it was begun: that goes on with it. Or take another backup.`,
    );
  }
  if (!isBackup(directory)) {
    throw new BackupUnusableError(
      `There is no backup in ${directory}: it has no ${MANIFEST}, or it is out of reach.`,
    );
  }
  const place = placeOf.manifest(directory);
  const manifest = parse(readFileSync(place, 'utf8'));
  if (manifest?.program !== 'postern' || !SNAPSHOT.test(String(manifest.snapshot))) {
    throw new BackupUnusableError(
      `${place} is damaged, or of something else than Postern. Take another backup.`,
    );
  }
  if (manifest.format !== MANIFEST_FORMAT) {
    throw new BackupUnusableError(
      `The backup in ${directory} has format ${manifest.format}, this program knows format ${MANIFEST_FORMAT}: it was written by version ${manifest.version}. Install that version or a newer one.`,
    );
  }
  return manifest;
}

function parse(text: string): Manifest | null {
  try {
    return JSON.parse(text) as Manifest | null;
  } catch {
    return null;
  }
}

/**
 * The name of the next snapshot: no other in the folder has it.
 * @param last that of the manifest, be it there or not
 */
export function nextSnapshot(directory: string, last: string | null): string {
  const names = [...snapshotsIn(directory), ...(last === null ? [] : [last])];
  return `snapshot-${1 + Math.max(0, ...names.map(name => Number(SNAPSHOT.exec(name)?.[1])))}`;
}

export function snapshotsIn(directory: string): string[] {
  return readdirSync(directory).filter(name => SNAPSHOT.test(name));
}

/** SHA-256 of a file of any size, in hexadecimal. */
export function fileSum(path: string): { readonly bytes: number; readonly sha256: string } {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(2 ** 20);
  const handle = openSync(path, 'r');
  let bytes = 0;
  try {
    for (;;) {
      const length = readSync(handle, piece);
      if (length === 0) return { bytes, sha256: hash.digest('hex') };
      hash.update(piece.subarray(0, length));
      bytes += length;
    }
  } finally {
    closeSync(handle);
  }
}

export function bytesSum(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
