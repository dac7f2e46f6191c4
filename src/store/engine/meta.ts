import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { ClockState } from '../../domain/clock.js';
import type { AccountId, MessageId } from '../../domain/ids.js';
import { PRIVATE_FILE } from '../private-files.js';
import { jsonValue, type Reader, type Table, type Writer } from './tables.js';

/** Facts about the store itself. */
export interface StoreIdentity {
  /** When the store was made, milliseconds since the epoch. */
  readonly createdAt: number;
  /** Signs cursors (base64). Never leaves the store. */
  readonly cursorSecret: string;
  /** Tells this store from every other, where several share something outside. */
  readonly id: string;
}

/** The process that serves this store. Two daemons on one store would work against each other. */
export interface DaemonLease {
  readonly pid: number;
  /** The socket that shows it is alive (`Presence` below). */
  readonly socket: string;
  readonly startedAt: number;
  readonly version: string;
}

/** The process that makes a backup of this store. */
export interface BackupLease {
  readonly pid: number;
  /** As that of `DaemonLease`. */
  readonly socket: string;
  readonly startedAt: number;
}

/** The newest backup that was finished. */
export interface LastBackup {
  /** Everything that was acknowledged by then is in it, milliseconds since the epoch. */
  readonly snapshotAt: number;
  readonly finishedAt: number;
  readonly path: string;
  readonly bytes: number;
}

/** The store was made from a backup: what was sent, made and revoked after it is not known here. */
export interface RestoredStore {
  readonly restoredAt: number;
  readonly snapshotAt: number;
  /** When sending and webhooks were let go on; null while they are held. */
  readonly resumedAt: number | null;
}

interface MetaValues {
  readonly backup: BackupLease;
  readonly lastBackup: LastBackup;
  readonly restored: RestoredStore;
  readonly schema: number;
  readonly identity: StoreIdentity;
  readonly daemon: DaemonLease;
  /** The account that stands for the operator. */
  readonly operator: AccountId;
  /** When the store last proved that it can be written, milliseconds since the epoch. */
  readonly provedAt: number;
  /** How far the clock of the machine can be relied on. */
  readonly clock: ClockState;
  /** The step to this schema is under way, or was when the process ended. */
  readonly unfinished: UnfinishedMigration;
  /** How far the excerpts of mail from before have been made (`store/mailbox/excerpts.ts`). */
  readonly excerpts: ExcerptProgress;
}

export interface ExcerptProgress {
  readonly version: number;
  /** Which messages are being looked through; null when all have been. */
  readonly kind: 'received' | 'sent' | null;
  /** The last id that was looked at; null at the start. */
  readonly position: MessageId | null;
}

interface UnfinishedMigration {
  readonly schema: number;
  /** Position of the step (base64); null at its start. */
  readonly position: string | null;
}

export const metaTable: Table<keyof MetaValues, unknown> = {
  name: 'meta',
  encodeKey: key => Buffer.from(key, 'latin1'),
  ...jsonValue<unknown>(1),
};

export function getMeta<K extends keyof MetaValues>(reader: Reader, key: K): MetaValues[K] | undefined {
  return reader.get(metaTable, key) as MetaValues[K] | undefined;
}

export function putMeta<K extends keyof MetaValues>(writer: Writer, key: K, value: MetaValues[K]): void {
  writer.put(metaTable, key, value);
}

export function removeDaemonLease(writer: Writer): void {
  writer.remove(metaTable, 'daemon');
}

export function removeBackupLease(writer: Writer): void {
  writer.remove(metaTable, 'backup');
}

/**
 * Is the store restored from a backup, and nobody has said yet that it may send again (`postern restore
 * --resume-sending`)? Until then nothing leaves it.
 */
export function isHeldAfterRestore(reader: Reader): boolean {
  const restored = getMeta(reader, 'restored');
  return restored !== undefined && restored.resumedAt === null;
}

export function removeUnfinished(writer: Writer): void {
  writer.remove(metaTable, 'unfinished');
}

export function newIdentity(nowMs: number): StoreIdentity {
  return {
    createdAt: nowMs,
    cursorSecret: randomBytes(32).toString('base64'),
    id: randomBytes(8).toString('hex'),
  };
}

/**
 * A process shows that it lives by listening on a socket of its own in the data directory. The kernel ends
 * that with the process, however it ends, and tells it to anyone who may use the directory: to another
 * user, in another pid namespace, under `ProtectProc=invisible`.
 */
export class Presence {
  /** File name of the socket, never used twice. */
  readonly name: string;
  readonly #server: Server;
  readonly #directory: number;

  private constructor(name: string, server: Server, directory: number) {
    this.name = name;
    this.#server = server;
    this.#directory = directory;
  }

  /** @param role who shows itself: the beginning of the socket's name */
  static async show(
    directory: string,
    role: 'daemon' | 'backup' | 'restore' | 'upgrade' = 'daemon',
  ): Promise<Presence> {
    const name = `${role}-${randomBytes(6).toString('hex')}.sock`;
    const handle = openSync(directory, 'r');
    const server = createServer(socket => socket.destroy());
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(socketPath(handle, name), resolve);
      });
      chmodSync(socketPath(handle, name), PRIVATE_FILE);
    } catch (error) {
      closeSync(handle);
      throw error;
    }
    server.unref();
    return new Presence(name, server, handle);
  }

  /** Is the process that shows itself under this name alive? */
  static async isShown(directory: string, name: string): Promise<boolean> {
    const handle = openSync(directory, 'r');
    try {
      return await new Promise<boolean>(resolve => {
        const socket = connect(socketPath(handle, name), () => {
          socket.destroy();
          resolve(true);
        });
        // Nobody listens, or there is no such file. Any other error means that somebody does.
        socket.once('error', (error: NodeJS.ErrnoException) =>
          resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
        );
      });
    } finally {
      closeSync(handle);
    }
  }

  /** Removes what a process that has ended left behind. */
  static forget(directory: string, name: string): void {
    rmSync(join(directory, name), { force: true });
  }

  async hide(): Promise<void> {
    await new Promise<void>(resolve => this.#server.close(() => resolve()));
    closeSync(this.#directory);
  }
}

/** A socket's path is limited to 107 bytes, that of a data directory is not. */
function socketPath(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
}
