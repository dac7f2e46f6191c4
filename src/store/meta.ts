import { randomBytes } from 'node:crypto';
import type { AccountId } from '../domain/ids.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, type Table } from './table.js';

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
  /** Where it shows that it lives (`presence.ts`). */
  readonly socket: string;
  readonly startedAt: number;
  readonly version: string;
}

interface MetaValues {
  readonly schema: number;
  readonly identity: StoreIdentity;
  readonly daemon: DaemonLease;
  /** The account that stands for the operator. */
  readonly operator: AccountId;
  /** When the store last proved that it can be written, milliseconds since the epoch. */
  readonly provedAt: number;
  /** The step to this schema is under way, or was when the process ended. */
  readonly unfinished: UnfinishedMigration;
}

export interface UnfinishedMigration {
  readonly schema: number;
  /** How far it has come (base64); null when it has only begun. */
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
