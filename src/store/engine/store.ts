import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { type Database, open, type RootDatabase, TransactionFlags } from 'lmdb';
import { reasonOf } from '../../lib/async.js';
import { makeFilesPrivate, PRIVATE_FILE, privateFolder } from '../private-files.js';
import { commitError } from './commit-error.js';
import {
  type CommitListener,
  type HeldSnapshots,
  NOTHING_HAPPENED,
  readHeldSnapshots,
} from './held-snapshots.js';
import { NoRoomError, type Purpose, Room, type RoomLimits } from './room.js';
import { Snapshot } from './snapshot.js';
import { checkStoreFile, filesOf, isReplaced, storeFolder } from './store-file.js';
import type { Reader, Writer } from './tables.js';
import { type Databases, DatabaseWriter, GatheringWriter } from './writer.js';

export { DamagedStoreError, storeExists, storeFolder } from './store-file.js';

/**
 * The store: one LMDB environment that holds everything.
 *
 * The promise: when `write` resolves, what the unit of work wrote is on disk (data and meta page, after
 * fdatasync); when it rejects, nothing of it is there. Units that are under way together share a flush
 * (group commit). This needs `overlappingSync: false`, and child transactions, because a plain lmdb-js
 * transaction that throws still commits the puts before the throw.
 *
 * Room is asked for every unit before it runs (`room.ts`), so that no use case can forget it.
 *
 * A commit that fails leaves no sound ground: `onFatal` is called once, every later unit is refused, and the process is
 * expected to end and to start again on what the disk really holds. Only a disk that is full is another matter: LMDB
 * writes and flushes the pages of a commit before the meta page that makes them count, so a commit that stopped there
 * has changed nothing. Its units fail with `NoRoomError`, and the next ones are tried as ever.
 */
export interface StoreOptions extends RoomLimits {
  /** Data directory; the environment lies in `store/` inside it. Made when it is not there. */
  readonly path: string;
  readonly mapSizeBytes: number;
  /** A commit failed: answer those who wait, then end the process. */
  readonly onFatal?: (error: unknown) => void;
  /** Do not copy the store before a migration; by default it is. */
  readonly upgradesWithoutCopy?: boolean;
  /** A migration, or the copy before it, has come further. */
  readonly onProgress?: () => void;
}

/** A unit of work was refused because an earlier commit had failed, or its own commit failed. */
export class StoreFailedError extends Error {
  constructor(cause: unknown) {
    super(`the store could not be written: ${reasonOf(cause)}`, {
      cause,
    });
    this.name = 'StoreFailedError';
  }
}

/** The store is closed or closing: the process is on its orderly way out. */
export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed');
    this.name = 'StoreClosedError';
  }
}

/** The file that this process has open was replaced (`store/compact-store.ts`): what it wrote would be lost. */
export class StoreReplacedError extends Error {
  constructor() {
    super('the store was compacted meanwhile, and nothing was changed: run this once more');
    this.name = 'StoreReplacedError';
  }
}

/** For what a file grows by between a look at its size and the snapshot. */
const SPARE_MAP_BYTES = 2 ** 30;

const { EIO, ENOSPC, EDQUOT } = constants.errno;
/** Codes of LMDB are those of the system. */
const FULL_CODES: readonly unknown[] = [ENOSPC, EDQUOT];

const RESOLVED = Promise.resolve();

/** Files that it makes are for their owner alone; the types of the library do not know the option. */
const PERMISSIONS = { permissionsMode: PRIVATE_FILE };

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

type TableName = { readonly name: string };

export class Store {
  /** The data directory. */
  readonly path: string;
  readonly room: Room;
  readonly #root: RootDatabase<Buffer, Buffer>;
  /** Holds some of the tables, where a store that is looked at lies in two environments. */
  readonly #beside: RootDatabase<Buffer, Buffer> | null;
  readonly #databases: Databases;
  readonly #reader: Reader;
  readonly #writer: DatabaseWriter;
  readonly #onFatal: (error: unknown) => void;
  readonly #listeners = new Set<CommitListener>();
  #failure: StoreFailedError | null = null;
  /** The inode of the file, until this process alone may replace it. */
  #fileId: number | null = null;
  #isClosed = false;
  /** The current snapshot was taken in this event turn. */
  #isSnapshotFresh = false;

  readonly #endTurn = (): void => {
    this.#isSnapshotFresh = false;
  };

  private constructor(
    root: RootDatabase<Buffer, Buffer>,
    options: StoreOptions,
    databases: Databases,
    beside: RootDatabase<Buffer, Buffer> | null = null,
  ) {
    this.path = options.path;
    this.#root = root;
    this.#beside = beside;
    this.#databases = databases;
    this.#reader = new DatabaseWriter(this.#databases, false);
    this.#writer = new DatabaseWriter(this.#databases, true);
    this.#onFatal = options.onFatal ?? (() => {});
    this.room = new Room(options, this);
  }

  /**
   * Opens the environment. Which tables there are is the product's matter (`openStore` in `store/open-store.ts`),
   * and so are migrations (`openMigratedStore`).
   */
  static open(options: StoreOptions, tables: readonly TableName[]): Store {
    checkStoreFile(options.path);
    const path = privateFolder(storeFolder(options.path));
    makeFilesPrivate(path);
    const before = filesOf(options.path);
    const root = open<Buffer, Buffer>({
      path,
      mapSize: Math.ceil(options.mapSizeBytes / 65_536) * 65_536,
      maxDbs: 96,
      maxReaders: 510,
      ...PERMISSIONS,
      overlappingSync: false,
      // Units of work batch themselves. With batches a turn, lmdb-js makes promises that nobody holds: the
      // process would end at a failed commit before those who wait are answered.
      eventTurnBatching: false,
      ...BINARY,
    });
    // In one transaction: else each table of a new store would be a commit of its own.
    const databases = root.transactionSync(
      () => openTables(root, tables),
      TransactionFlags.SYNCHRONOUS_COMMIT,
    );
    const store = new Store(root, options, databases);
    const after = filesOf(options.path);
    store.#fileId = after.data;
    if (isReplaced(before.data, after.data) || isReplaced(before.lock, after.lock)) {
      void store.close();
      throw new StoreReplacedError();
    }
    return store;
  }

  /**
   * Opens an environment only to look at it, such as a copy; a process that writes it is not disturbed.
   * @param directory where `data.mdb` lies
   * @param beside another directory with a `data.mdb`, and the tables that are to be looked for there
   */
  static openReadOnly(
    directory: string,
    tables: readonly TableName[],
    beside: { readonly directory: string; readonly tables: readonly TableName[] } | null = null,
  ): Store {
    const { root, mapSizeBytes } = openToLook(directory);
    const options = { path: directory, mapSizeBytes, diskFloorBytes: 0 };
    if (beside === null) return new Store(root, options, openTables(root, tables));
    const other = openToLook(beside.directory).root;
    const databases = new Map([...openTables(root, tables), ...openTables(other, beside.tables)]);
    return new Store(root, options, databases, other);
  }

  /**
   * Reads a snapshot that holds every commit, of this process or another, that was complete when the event turn began.
   * `work` is synchronous and must not keep the reader.
   */
  read<Result>(work: (reader: Reader) => Result): Result {
    if (this.#isClosed) throw new StoreClosedError();
    if (!this.#isSnapshotFresh) this.#refreshSnapshot();
    return work(this.#reader);
  }

  /** Holds on to the state of now; to be ended by whoever asked for it. */
  snapshot(): Snapshot {
    if (this.#isClosed) throw new StoreClosedError();
    if (this.#beside !== null)
      throw new Error('a store that lies in two environments has no common snapshot');
    this.#refreshSnapshot();
    return new Snapshot(this.#databases, this.#root.useReadTransaction());
  }

  /**
   * lmdb-js keeps a snapshot until a timer of a millisecond runs, and events come in before it: a client
   * could meet a key that the command line has revoked already.
   */
  #refreshSnapshot(): void {
    this.#root.resetReadTxn();
    this.#isSnapshotFresh = true;
    // A microtask by way of a promise: `queueMicrotask` would allocate an object for each request.
    void RESOLVED.then(this.#endTurn);
  }

  /**
   * Runs a unit of work and resolves with its result after the flush. `work` is synchronous and may be
   * refused by throwing: then nothing of it is kept and the promise rejects with what it threw.
   * @param purpose what the unit is for: which room it may take
   * @param bytes how much it brings, where that is more than some records
   * @throws NoRoomError when there is no room for it; nothing of it is there.
   * @throws StoreFailedError when the commit failed; the store takes no more writes.
   */
  async write<Result>(
    work: (writer: Writer) => Result,
    purpose: Purpose = 'add',
    bytes = 0,
  ): Promise<Result> {
    if (this.#isClosed) throw new StoreClosedError();
    if (this.#failure !== null) throw this.#failure;
    this.room.admit(bytes, purpose);
    const writer = new GatheringWriter(this.#writer);
    let refusal: { error: unknown } | null = null;
    let result: Result;
    try {
      result = await this.#root.childTransaction(() => {
        try {
          if (this.#fileId !== null) this.#checkFile();
          const value = work(writer);
          writer.flush();
          return value;
        } catch (error) {
          refusal = { error };
          throw error;
        }
      });
    } catch (error) {
      const cause = refusal === null ? await commitError(error) : (refusal as { error: unknown }).error;
      if (this.#isOnlyFull(cause)) throw new NoRoomError(cause);
      throw refusal === null ? this.#fail(cause) : cause;
    }
    this.room.owe(writer.owedBytes);
    const { topics, happened } = writer;
    if (topics !== null)
      for (const listener of this.#listeners) listener(topics, happened ?? NOTHING_HAPPENED);
    return result;
  }

  /** Calls `listener` after each commit of this process that announced anything. @returns ends that */
  onCommitted(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Did this fail for want of room alone, with an environment that is sound? Had the meta page failed, LMDB would refuse
   * every later snapshot (MDB_PANIC). A write that fits in part is reported by LMDB as an I/O error.
   */
  #isOnlyFull(error: unknown): boolean {
    const code = (error as { readonly code?: unknown } | null)?.code;
    const isFull = isMapFull(error) || FULL_CODES.includes(code) || (code === EIO && this.room.wasDiskFull());
    if (!isFull || this.#isClosed) return false;
    try {
      this.#refreshSnapshot();
      this.#root.getStats();
      return true;
    } catch {
      return false;
    }
  }

  /** Bytes that the file has reached, free pages within it included: never less than `usedBytes()`, and cheap. */
  reachedBytes(): number {
    const { lastPageNumber = 0, pageSize = 4096 } = this.#root.getStats() as Record<string, number>;
    return (lastPageNumber + 1) * pageSize;
  }

  /** Bytes in use by live pages, free pages of the file not counted: asks every table, or the one that is named. */
  usedBytes(table?: TableName): number {
    let pages = 0;
    let pageSize = 4096;
    for (const [name, database] of this.#databases) {
      if (database === null || (table !== undefined && name !== table.name)) continue;
      const stats = database.getStats() as Record<string, number>;
      pages += (stats.treeBranchPageCount ?? 0) + (stats.treeLeafPageCount ?? 0) + (stats.overflowPages ?? 0);
      pageSize = stats.pageSize ?? pageSize;
    }
    return pages * pageSize;
  }

  /** The snapshots that are held now; this process itself holds one for a moment after each read. */
  heldSnapshots(): HeldSnapshots {
    return readHeldSnapshots(this.#root.readerList(), this.lastCommit());
  }

  /** Nobody else replaces the file from now on: this process is the store's daemon, or compacts it. */
  trustFile(): void {
    this.#fileId = null;
  }

  /** The number of the last commit, by whomever. */
  lastCommit(): number {
    this.#refreshSnapshot();
    return (this.#root.getStats() as Record<string, number>).lastTxnId ?? 0;
  }

  /**
   * Calls `replace` while nobody can commit, unless there were commits since the one given. Afterwards this process
   * can write no more.
   */
  async replaceFile(lastCommit: number, replace: () => void): Promise<boolean> {
    return this.write(() => {
      if (this.lastCommit() !== lastCommit) return false;
      replace();
      return true;
    }, 'settle');
  }

  #checkFile(): void {
    if (filesOf(this.path).data !== this.#fileId) throw new StoreReplacedError();
  }

  /** Writes a copy of the environment, consistent in itself, into an existing directory. */
  async copyTo(directory: string): Promise<void> {
    await this.#root.backup(directory, true);
    makeFilesPrivate(directory);
  }

  /** Waits for the units under way and closes the environment. What comes later meets `StoreClosedError`. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#root.close(), this.#beside?.close()]);
  }

  #fail(error: unknown): StoreFailedError {
    if (this.#failure === null) {
      this.#failure = new StoreFailedError(error);
      this.#onFatal(error);
    }
    return this.#failure;
  }
}

/** By name; null for one that a file which is only looked at does not have. */
function openTables(root: RootDatabase<Buffer, Buffer>, tables: readonly TableName[]): Databases {
  return new Map(
    tables.map(({ name }) => {
      // Its types leave out that there may be none.
      const database = root.openDB<Buffer, Buffer>({ name, ...BINARY }) as
        | Database<Buffer, Buffer>
        | undefined;
      return [name, database ?? null];
    }),
  );
}

function openToLook(directory: string): {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly mapSizeBytes: number;
} {
  const mapSizeBytes = 2 * statSync(join(directory, 'data.mdb')).size + SPARE_MAP_BYTES;
  const root = open<Buffer, Buffer>({
    path: directory,
    readOnly: true,
    mapSize: Math.ceil(mapSizeBytes / 65_536) * 65_536,
    maxDbs: 96,
    maxReaders: 510,
    ...BINARY,
  });
  return { root, mapSizeBytes };
}

/**
 * Did LMDB refuse a put because its map is full? The unit of work that met it has been rolled back. Rare:
 * lmdb-js makes the map larger, and `room.ts` refuses mail long before that.
 */
function isMapFull(error: unknown): boolean {
  return error instanceof Error && error.message.includes('MDB_MAP_FULL');
}
