import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal, refuse } from '../../domain/errors.js';
import { type BlobId, idFromBytes } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { reasonOf } from '../../lib/async.js';
import { freeBytesAt, inMib } from '../engine/disk.js';
import { u32 } from '../engine/keys.js';
import { getMeta, metaTable } from '../engine/meta.js';
import type { Snapshot } from '../engine/snapshot.js';
import { Store, storeFolder } from '../engine/store.js';
import { storeFile } from '../engine/store-file.js';
import { flush, privateFolder, writePrivateFile } from '../private-files.js';
import {
  BLOB_TABLES,
  entryPages,
  ID_BYTES,
  keyPages,
  keysThere,
  listedBlobsTable,
  RECORD_TABLES,
  type Read,
  rawChunks,
  rawListed,
  rawSums,
  rawTable,
  SNAPSHOT_TABLES,
  sumOf,
} from './backup-tables.js';
import { BatchWriter } from './batch-writer.js';
import {
  type BackedUpFile,
  bytesSum,
  fileSum,
  isBackup,
  isUnfinishedBackup,
  MANIFEST_FORMAT,
  type Manifest,
  nextSnapshot,
  placeOf,
  readManifest,
  snapshotsIn,
  unfinishedOwner,
} from './manifest.js';

/** A file that is kept with the backup: the configuration, a key of a certificate, a password. */
export interface FileToKeep {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** How far a backup is. `total` may grow: the store goes on being written. */
export interface BackupProgress {
  readonly step: 'blobs' | 'records' | 'sums';
  readonly done: number;
  readonly total: number;
}

export interface BackupOptions {
  readonly directory: string;
  readonly files: readonly FileToKeep[];
  readonly version: string;
  readonly clock: () => number;
  /** Free bytes that must be left on the disk of the backup. */
  readonly diskFloorBytes: number;
  /** Map of the source: the backup's own are as large. */
  readonly mapSizeBytes: number;
  readonly onProgress: (progress: BackupProgress) => void;
}

export interface WrittenBackup {
  readonly manifest: Manifest;
  /** Of blobs that the backup did not have yet. */
  readonly copiedBlobBytes: number;
  /** For how long one state of the store was held on to. */
  readonly snapshotMs: number;
}

/** Blobs are copied again and again until a pass finds less than this, or so often. */
const FEW_BYTES = 8 * 2 ** 20;
const MAX_PASSES = 5;
/** For what is small, and for the trees of a copy, which are packed another way. */
const SPARE_BYTES = 32 * 2 ** 20;

/**
 * Brings the backup in a folder to what the store holds now. A daemon may go on writing the store: blobs, which never
 * change, are copied first, chunk by chunk in short reads; then one state of the store is held on to while everything
 * else is copied, and the few blobs that came meanwhile. So nothing is kept from being purged, whoever kills the backup
 * leaves nothing behind in the store, and all of the backup is of one instant.
 */
export async function writeBackup(source: Store, options: BackupOptions): Promise<WrittenBackup> {
  const { directory, clock, version } = options;
  const startedAt = clock();
  const identity = source.read(reader => getMeta(reader, 'identity'));
  const place = ownFolder(directory, there => checkOwner(there, identity?.id ?? ''));
  checkRoom(source, options, place);
  if (!isBackup(place)) {
    const note = { program: 'postern', store_id: identity?.id ?? '', started_at: toInstant(startedAt) };
    writePrivateFile(placeOf.unfinished(place), `${JSON.stringify(note)}\n`);
  }
  const old = isBackup(place) ? readManifest(place).snapshot : null;
  const name = nextSnapshot(place, old);
  for (const left of snapshotsIn(place)) {
    if (left !== old) rmSync(join(place, left), { recursive: true, force: true });
  }
  const { mapSizeBytes, diskFloorBytes } = options;
  const blobs = Store.open(
    { path: placeOf.blobs(place), mapSizeBytes: 2 * mapSizeBytes, diskFloorBytes },
    BLOB_TABLES,
  );
  try {
    const copied = await copyAhead(source, blobs, options);
    const taken = await takeSnapshot(source, blobs, { ...options, place, name });
    const files = keepFiles(placeOf.files(place, name), options.files);
    const environment = storeFolder(placeOf.snapshot(place, name));
    options.onProgress({ step: 'sums', done: 0, total: 1 });
    const records = { entries: taken.entries, ...fileSum(storeFile(placeOf.snapshot(place, name))) };
    for (const folder of [
      environment,
      placeOf.snapshot(place, name),
      storeFolder(placeOf.blobs(place)),
      place,
    ]) {
      flush(folder);
    }
    const manifest: Manifest = {
      format: MANIFEST_FORMAT,
      program: 'postern',
      version,
      schema: taken.schema,
      store_id: identity?.id ?? '',
      started_at: toInstant(startedAt),
      snapshot_at: toInstant(taken.at),
      finished_at: toInstant(clock()),
      snapshot: name,
      records,
      blobs: { ...taken.blobs, file_bytes: statSync(storeFile(placeOf.blobs(place))).size },
      files,
    };
    writePrivateFile(placeOf.manifest(place), `${JSON.stringify(manifest, null, 2)}\n`);
    flush(place);
    // From here on the backup is the new one.
    rmSync(placeOf.unfinished(place), { force: true });
    if (old !== null) rmSync(join(place, old), { recursive: true, force: true });
    await removeUnlisted(blobs, place, name);
    return { manifest, copiedBlobBytes: copied + taken.copied, snapshotMs: taken.heldMs };
  } finally {
    await blobs.close();
  }
}

/**
 * A folder for backups, for its owner alone; made where there is none.
 * @param check looks at one that is there, before anything is changed, and refuses what should stay as it is
 * @throws invalid_request when that cannot be
 */
export function ownFolder(directory: string, check: (directory: string) => void): string {
  try {
    if (existsSync(directory)) check(directory);
    return privateFolder(directory);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw refuse(
      'invalid_request',
      `${directory} cannot be used for a backup: ${reasonOf(error)}. Run as root this command becomes the owner of store.path, who has to own that folder, or be able to make it.`,
    );
  }
}

/** The folder is empty, or holds a backup of this store and of no other. */
function checkOwner(place: string, storeId: string): void {
  const entries = readdirSync(place);
  if (isBackup(place)) {
    if (readManifest(place).store_id !== storeId) throw foreign(place);
    return;
  }
  if (isUnfinishedBackup(place)) {
    if (unfinishedOwner(place) !== storeId) throw foreign(place);
    return;
  }
  if (entries.length > 0) {
    throw refuse(
      'invalid_request',
      `${place} is not empty and holds no backup (${entries[0]} is in it): name a folder of its own for the backup.`,
    );
  }
}

function foreign(place: string): Error {
  return refuse(
    'invalid_request',
    `${place} holds a backup of another store, which would be overwritten: name another folder for this one.`,
  );
}

function checkRoom(source: Store, { diskFloorBytes }: BackupOptions, place: string): void {
  const blobBytes = source.usedBytes(rawChunks);
  const recordBytes = source.usedBytes() - blobBytes;
  const blobFile = storeFile(placeOf.blobs(place));
  const thereBytes = statSync(blobFile, { throwIfNoEntry: false })?.size ?? 0;
  const neededBytes =
    Math.ceil(1.1 * recordBytes + Math.max(0, 1.05 * blobBytes - thereBytes)) + SPARE_BYTES + diskFloorBytes;
  const freeBytes = freeBytesAt(place);
  if (freeBytes >= neededBytes) return;
  throw refuse(
    'insufficient_room',
    `The backup needs about ${inMib(neededBytes)} in ${place} (${inMib(diskFloorBytes)} of them as the floor that stays free, store.disk_floor_mib), and ${inMib(freeBytes)} are free. Nothing was changed. Free some, or name a folder on another disk.`,
  );
}

/** Copies blobs until few are left to be copied. */
async function copyAhead(source: Store, blobs: Store, { onProgress }: BackupOptions): Promise<number> {
  const read: Read = work => source.read(work);
  const total = source.usedBytes(rawChunks);
  let copied = 0;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    let walked = 0;
    const before = copied;
    for (const keys of keyPages(read, rawChunks)) {
      copied += await copyMissing(read, blobs, keys, bytes => {
        walked += bytes;
        if (pass === 0) onProgress({ step: 'blobs', done: Math.min(walked, total), total });
      });
    }
    if (copied - before < FEW_BYTES) break;
  }
  return copied;
}

/** Copies those of these chunks that the backup does not have. @returns how many bytes */
async function copyMissing(
  read: Read,
  blobs: Store,
  keys: readonly Buffer[],
  onBytes: (bytes: number) => void,
): Promise<number> {
  const there = keysThere(blobs, rawSums, keys);
  const out = new BatchWriter(blobs);
  let copied = 0;
  for (const key of keys) {
    if (there.has(key.toString('latin1'))) continue;
    const value = read(reader => reader.get(rawChunks, key));
    // Purged since.
    if (value === undefined) continue;
    const sum = u32(sumOf(value));
    if (!out.put({ table: rawChunks, key, value }, { table: rawSums, key, value: sum })) await out.flushed();
    copied += value.length;
    onBytes(value.length);
  }
  await out.end();
  return copied;
}

interface Taken {
  readonly at: number;
  readonly schema: number;
  readonly entries: number;
  readonly copied: number;
  readonly heldMs: number;
  readonly blobs: Manifest['blobs'];
}

async function takeSnapshot(
  source: Store,
  blobs: Store,
  options: BackupOptions & { readonly place: string; readonly name: string },
): Promise<Taken> {
  const { place, name, clock, mapSizeBytes, diskFloorBytes } = options;
  const records = Store.open(
    { path: privateFolder(placeOf.snapshot(place, name)), mapSizeBytes, diskFloorBytes },
    SNAPSHOT_TABLES,
  );
  try {
    const at = clock();
    const snapshot = source.snapshot();
    const heldSince = performance.now();
    try {
      const listed = await listBlobs(snapshot, blobs, records);
      const entries = await copyRecords(snapshot, records, source, options);
      const schema = getMeta(snapshot, 'schema') ?? 0;
      return { at, schema, entries, ...listed, heldMs: performance.now() - heldSince };
    } finally {
      snapshot.end();
    }
  } finally {
    await records.close();
  }
}

/** Says which blobs belong to the snapshot, and copies those that came since the last pass. */
async function listBlobs(
  snapshot: Snapshot,
  blobs: Store,
  records: Store,
): Promise<Pick<Taken, 'copied' | 'blobs'>> {
  const read: Read = work => work(snapshot);
  const out = new BatchWriter(records);
  let copied = 0;
  let count = 0;
  let chunks = 0;
  let last: { readonly id: Buffer; readonly chunks: number } | null = null;
  const list = (): boolean => {
    if (last === null) return true;
    count += 1;
    return out.put({ table: rawListed, key: last.id, value: u32(last.chunks) });
  };
  for (const keys of keyPages(read, rawChunks)) {
    copied += await copyMissing(read, blobs, keys, () => {});
    for (const key of keys) {
      const id = key.subarray(0, ID_BYTES);
      if ((last === null || !last.id.equals(id)) && !list()) await out.flushed();
      last = { id, chunks: key.readUInt32BE(ID_BYTES) + 1 };
      chunks += 1;
    }
  }
  list();
  await out.end();
  return { copied, blobs: { count, chunks, bytes: blobs.usedBytes(rawChunks) } };
}

/** What names processes of now means nothing in a copy. */
const LEASES: readonly string[] = ['daemon', 'backup'];

async function copyRecords(
  snapshot: Snapshot,
  records: Store,
  source: Store,
  { onProgress }: BackupOptions,
): Promise<number> {
  const total = source.usedBytes() - source.usedBytes(rawChunks);
  const out = new BatchWriter(records);
  let entries = 0;
  let done = 0;
  for (const { name } of RECORD_TABLES) {
    const table = rawTable(name);
    for (const page of entryPages(work => work(snapshot), table)) {
      for (const { key, value } of page) {
        if (name === metaTable.name && LEASES.includes(key.toString('latin1'))) continue;
        if (!out.put({ table, key, value })) await out.flushed();
        entries += 1;
        done += key.length + value.length;
      }
      onProgress({ step: 'records', done: Math.min(done, total), total });
    }
  }
  await out.end();
  return entries;
}

function keepFiles(folder: string, files: readonly FileToKeep[]): BackedUpFile[] {
  privateFolder(folder);
  const kept = files.map(({ path, bytes }, index) => {
    const name = `${index}-${path.slice(path.lastIndexOf('/') + 1)}`;
    writePrivateFile(join(folder, name), bytes);
    return { name, path, bytes: bytes.length, sha256: bytesSum(bytes) };
  });
  flush(folder);
  return kept;
}

/** Removes chunks that do not belong to the snapshot: of mail that was deleted since the one before. */
async function removeUnlisted(blobs: Store, place: string, name: string): Promise<void> {
  const records = Store.openReadOnly(storeFolder(placeOf.snapshot(place, name)), SNAPSHOT_TABLES);
  try {
    const read: Read = work => blobs.read(work);
    for (const keys of keyPages(read, rawChunks)) {
      const gone = records.read(reader =>
        keys.filter(key => {
          const chunks = reader.get(listedBlobsTable, idFromBytes<BlobId>(key));
          return chunks === undefined || key.readUInt32BE(ID_BYTES) >= chunks;
        }),
      );
      if (gone.length === 0) continue;
      await blobs.write(writer => {
        for (const key of gone) {
          writer.remove(rawChunks, key);
          writer.remove(rawSums, key);
        }
      }, 'settle');
    }
  } finally {
    await records.close();
  }
}
