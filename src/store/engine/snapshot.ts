import type { Database, Transaction } from 'lmdb';
import type { Entry, Reader, Scan, Table } from './tables.js';
import { type Databases, databaseOf, rangeOptions } from './writer.js';

/** The types of the library leave it out. */
interface WithOptions {
  getBinaryFast(key: Buffer, options: { readonly transaction: Transaction }): Buffer | undefined;
}

/**
 * One state of the store, over as many event turns as it takes. While it is held, pages that others free are not used
 * again and the file may grow: hold it for seconds, and end it.
 */
export class Snapshot implements Reader {
  readonly isUnit = false;
  readonly #databases: Databases;
  readonly #transaction: Transaction;

  constructor(databases: Databases, transaction: Transaction) {
    this.#databases = databases;
    this.#transaction = transaction;
  }

  get<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined {
    const bytes = this.#bytesOf(table, key);
    return bytes === undefined ? undefined : table.decodeValue(bytes);
  }

  has<Key, Value>(table: Table<Key, Value>, key: Key): boolean {
    return this.#bytesOf(table, key) !== undefined;
  }

  scan<Key, Value>(table: Table<Key, Value>, scan: Scan): Entry<Value>[] {
    const entries: Entry<Value>[] = [];
    for (const { key, value } of this.#database(table)?.getRange(this.#options(scan)) ?? []) {
      entries.push({ key: Buffer.from(key), value: table.decodeValue(value) });
    }
    return entries;
  }

  scanKeys<Key, Value>(table: Table<Key, Value>, scan: Scan): Buffer[] {
    const keys: Buffer[] = [];
    for (const key of this.#database(table)?.getKeys(this.#options(scan)) ?? []) keys.push(Buffer.from(key));
    return keys;
  }

  end(): void {
    this.#transaction.done();
  }

  #bytesOf<Key, Value>(table: Table<Key, Value>, key: Key): Buffer | undefined {
    const database = this.#database(table) as (Database<Buffer, Buffer> & WithOptions) | null;
    return database?.getBinaryFast(table.encodeKey(key), { transaction: this.#transaction });
  }

  #options(scan: Scan): object {
    return { ...rangeOptions(scan), transaction: this.#transaction };
  }

  #database(table: { readonly name: string }): Database<Buffer, Buffer> | null {
    return databaseOf(this.#databases, table);
  }
}
