import type { BlockCache } from './block-cache.js';
import type { Table } from './table.js';

/** A bounded walk over the keys of one table. */
export interface Scan {
  /** First key, inclusive, in the order of bytes. */
  readonly from: Buffer;
  /** End of the walk, exclusive. */
  readonly to: Buffer;
  /** Walk from the end to the start. */
  readonly reverse?: boolean;
  /** At most so many entries; every walk has a bound. */
  readonly limit: number;
}

export interface Entry<Value> {
  readonly key: Buffer;
  readonly value: Value;
}

/** Reads one consistent snapshot. A reader is good for the event turn in which it was given. */
export interface Reader {
  /** Keeps nothing inside a unit of work: what that sees may yet be undone. */
  readonly blocks: BlockCache;
  get<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined;
  has<Key, Value>(table: Table<Key, Value>, key: Key): boolean;
  scan<Key, Value>(table: Table<Key, Value>, scan: Scan): Entry<Value>[];
  scanKeys<Key, Value>(table: Table<Key, Value>, scan: Scan): Buffer[];
}

/** Writes inside one unit of work; sees its own writes. Exists only while the unit runs. */
export interface Writer extends Reader {
  put<Key, Value>(table: Table<Key, Value>, key: Key, value: Value): void;
  remove<Key, Value>(table: Table<Key, Value>, key: Key): void;
  /** Puts what `change` makes of the value; false when it leaves it as it is. */
  update<Key, Value>(table: Table<Key, Value>, key: Key, change: Change<Value>): boolean;
}

/** Gets undefined for a value that is not there; gives undefined to remove it, null to leave it. */
export type Change<Value> = (before: Value | undefined) => Value | undefined | null;
