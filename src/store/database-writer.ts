import type { Database } from 'lmdb';
import { countAccessChange } from './access-version.js';
import type { BlockCache } from './block-cache.js';
import type { Change, Entry, Scan, Writer } from './reader-writer.js';
import type { Table } from './table.js';

/** By name of the table. */
export type Databases = ReadonlyMap<string, Database<Buffer, Buffer>>;

/** Reads and writes LMDB as it is asked: in the transaction under way, or else in the snapshot at hand. */
export class DatabaseWriter implements Writer {
  readonly blocks: BlockCache;
  readonly #databases: Databases;

  constructor(databases: Databases, blocks: BlockCache) {
    this.#databases = databases;
    this.blocks = blocks;
  }

  get<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined {
    const bytes = this.#database(table).getBinaryFast(table.encodeKey(key));
    return bytes === undefined ? undefined : table.decodeValue(bytes);
  }

  has<Key, Value>(table: Table<Key, Value>, key: Key): boolean {
    return this.#database(table).getBinaryFast(table.encodeKey(key)) !== undefined;
  }

  scan<Key, Value>(table: Table<Key, Value>, scan: Scan): Entry<Value>[] {
    const entries: Entry<Value>[] = [];
    for (const { key, value } of this.#database(table).getRange(rangeOptions(scan))) {
      entries.push({ key: Buffer.from(key), value: table.decodeValue(value) });
    }
    return entries;
  }

  scanKeys<Key, Value>(table: Table<Key, Value>, scan: Scan): Buffer[] {
    const keys: Buffer[] = [];
    for (const key of this.#database(table).getKeys(rangeOptions(scan))) keys.push(Buffer.from(key));
    return keys;
  }

  put<Key, Value>(table: Table<Key, Value>, key: Key, value: Value): void {
    this.#database(table).put(table.encodeKey(key), table.encodeValue(value));
    if (table.decidesAccess === true) countAccessChange(this);
  }

  remove<Key, Value>(table: Table<Key, Value>, key: Key): void {
    this.#database(table).remove(table.encodeKey(key));
    if (table.decidesAccess === true) countAccessChange(this);
  }

  update<Key, Value>(table: Table<Key, Value>, key: Key, change: Change<Value>): boolean {
    const after = change(this.get(table, key));
    if (after === null) return false;
    if (after === undefined) this.remove(table, key);
    else this.put(table, key, after);
    return true;
  }

  #database(table: { readonly name: string }): Database<Buffer, Buffer> {
    const database = this.#databases.get(table.name);
    if (database === undefined) throw new Error(`the table ${table.name} is missing from store/schema.ts`);
    return database;
  }
}

/** lmdb-js walks backwards from `start` (here exclusive) down to `end` (exclusive there, inclusive here). */
function rangeOptions(scan: Scan): object {
  const { from, to, limit } = scan;
  return scan.reverse === true
    ? { start: to, exclusiveStart: true, end: from, inclusiveEnd: true, reverse: true, limit }
    : { start: from, end: to, limit };
}
