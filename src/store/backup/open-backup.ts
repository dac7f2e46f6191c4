import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type BlobId, idFromBytes } from '../../domain/ids.js';
import { Store, storeFolder } from '../engine/store.js';
import { storeFile } from '../engine/store-file.js';
import type { Reader } from '../engine/tables.js';
import { MIGRATIONS } from '../open-store.js';
import {
  BLOB_TABLES,
  chunkSumsTable,
  entryPages,
  ID_BYTES,
  listedBlobsTable,
  rawChunks,
  SNAPSHOT_TABLES,
  sumOf,
} from './backup-tables.js';
import { BackupUnusableError, bytesSum, fileSum, type Manifest, placeOf, readManifest } from './manifest.js';

/** A backup as it lies, to be looked at. */
export interface OpenBackup {
  readonly manifest: Manifest;
  /** Reads as the store did at the instant of the snapshot; blobs that do not belong to it may be there too. */
  readonly store: Store;
  /** Does a blob belong to the snapshot? */
  readonly isListed: (reader: Reader, id: BlobId) => boolean;
}

/**
 * Opens a backup that was finished. Reads all of its records once, to hold them against their sum.
 * @throws BackupUnusableError when there is none, it is of a newer program, or parts of it are missing;
 *   BackupDamagedError when its records have changed, or a file was cut off
 */
export function openBackup(directory: string): OpenBackup {
  const manifest = readManifest(directory);
  if (manifest.schema > MIGRATIONS.length) {
    throw new BackupUnusableError(
      `The backup in ${directory} has schema ${manifest.schema}, this program knows up to ${MIGRATIONS.length}: it was written by version ${manifest.version}. Install that version or a newer one.`,
    );
  }
  const records = storeFolder(placeOf.snapshot(directory, manifest.snapshot));
  const blobs = storeFolder(placeOf.blobs(directory));
  for (const folder of [records, blobs]) {
    if (!existsSync(join(folder, 'data.mdb'))) {
      throw new BackupUnusableError(
        `The backup in ${directory} is not complete: ${folder}/data.mdb is missing. Take another backup.`,
      );
    }
  }
  checkFiles(directory, manifest);
  const store = Store.openReadOnly(records, SNAPSHOT_TABLES, { directory: blobs, tables: BLOB_TABLES });
  return { manifest, store, isListed: (reader, id) => reader.has(listedBlobsTable, id) };
}

/** The bytes of a backup that was finished are not those that were written. */
export class BackupDamagedError extends BackupUnusableError {
  /** What is at fault, in words. */
  readonly fault: string;

  constructor(fault: string) {
    super(`The backup is damaged: ${fault}. Nothing was restored. Take another backup.`);
    this.fault = fault;
  }
}

/**
 * Done before LMDB maps the files: damaged pages would lead anywhere, and reading what a map has and its file has not
 * ends the process with a signal.
 */
function checkFiles(directory: string, { snapshot, records, blobs }: Manifest): void {
  const recordsFile = storeFile(placeOf.snapshot(directory, snapshot));
  const blobsFile = storeFile(placeOf.blobs(directory));
  for (const [file, bytes] of [
    [recordsFile, records.bytes],
    [blobsFile, blobs.file_bytes ?? 0],
  ] as const) {
    const { size } = statSync(file);
    if (size < bytes) {
      throw new BackupDamagedError(`${file} was written with ${bytes} bytes, and ${size} are left of it`);
    }
  }
  if (fileSum(recordsFile).sha256 === records.sha256) return;
  throw new BackupDamagedError(
    `${recordsFile} is not as it was written: its SHA-256 differs from that in the manifest`,
  );
}

/** Faults that are named; one bad disk makes many. */
const MAX_FAULTS = 100;

/**
 * Reads every byte of a backup, but for the records, which opening it did, and holds it against its sums: a disk that has kept it for years may have changed some.
 * Takes a second for some hundred MiB.
 * @returns what does not come out even, in words; empty when all does
 */
export function checkSums(directory: string, { manifest, store }: OpenBackup): string[] {
  const faults: string[] = [];
  for (const { name, sha256 } of manifest.files) {
    const file = join(placeOf.files(directory, manifest.snapshot), name);
    if (!existsSync(file)) faults.push(`${file} is missing`);
    else if (bytesSum(readFileSync(file)) !== sha256) faults.push(`${file} is not as it was written`);
  }
  store.read(reader => {
    for (const page of entryPages(work => work(reader), rawChunks)) {
      for (const { key, value } of page) {
        if (faults.length >= MAX_FAULTS) return;
        const id = idFromBytes<BlobId>(key);
        if (!reader.has(listedBlobsTable, id)) continue;
        if (reader.get(chunkSumsTable, key) === sumOf(value)) continue;
        faults.push(`chunk ${key.readUInt32BE(ID_BYTES)} of blob ${id} is not as it was written`);
      }
    }
  });
  return faults;
}
