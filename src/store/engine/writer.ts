import type { Database } from 'lmdb';
import { u48 } from './keys.js';
import type { Change, Entry, Gather, Reader, Scan, Table, Writer } from './tables.js';

/** By name of the table; null where the file, of an older program and only looked at, has none: nothing is in it. */
export type Databases = ReadonlyMap<string, Database<Buffer, Buffer> | null>;

export function databaseOf(
  databases: Databases,
  { name }: { readonly name: string },
): Database<Buffer, Buffer> | null {
  const database = databases.get(name);
  if (database === undefined) throw new Error(`the table ${name} is missing from src/store/open-store.ts`);
  return database;
}

/** What writes at once. */
type DirectWriter = Omit<Writer, 'owe' | 'announce'>;

/** Reads and writes LMDB directly: in the transaction under way, or else in the current snapshot. */
export class DatabaseWriter implements DirectWriter {
  readonly isUnit: boolean;
  readonly #databases: Databases;

  constructor(databases: Databases, isUnit: boolean) {
    this.#databases = databases;
    this.isUnit = isUnit;
  }

  get<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined {
    const bytes = this.#database(table)?.getBinaryFast(table.encodeKey(key));
    return bytes === undefined ? undefined : table.decodeValue(bytes);
  }

  has<Key, Value>(table: Table<Key, Value>, key: Key): boolean {
    return this.#database(table)?.getBinaryFast(table.encodeKey(key)) !== undefined;
  }

  scan<Key, Value>(table: Table<Key, Value>, scan: Scan): Entry<Value>[] {
    const entries: Entry<Value>[] = [];
    for (const { key, value } of this.#database(table)?.getRange(rangeOptions(scan)) ?? []) {
      entries.push({ key: Buffer.from(key), value: table.decodeValue(value) });
    }
    return entries;
  }

  scanKeys<Key, Value>(table: Table<Key, Value>, scan: Scan): Buffer[] {
    const keys: Buffer[] = [];
    for (const key of this.#database(table)?.getKeys(rangeOptions(scan)) ?? []) keys.push(Buffer.from(key));
    return keys;
  }

  put<Key, Value>(table: Table<Key, Value>, key: Key, value: Value): void {
    this.#writable(table).put(table.encodeKey(key), table.encodeValue(value));
    if (table.decidesAccess === true) countAccessChange(this);
  }

  remove<Key, Value>(table: Table<Key, Value>, key: Key): void {
    this.#writable(table).remove(table.encodeKey(key));
    if (table.decidesAccess === true) countAccessChange(this);
  }

  update<Key, Value>(table: Table<Key, Value>, key: Key, change: Change<Value>): boolean {
    const after = change(this.get(table, key));
    if (after === null) return false;
    if (after === undefined) this.remove(table, key);
    else this.put(table, key, after);
    return true;
  }

  #database(table: { readonly name: string }): Database<Buffer, Buffer> | null {
    return databaseOf(this.#databases, table);
  }

  #writable(table: { readonly name: string }): Database<Buffer, Buffer> {
    const database = this.#database(table);
    if (database === null) throw new Error(`the table ${table.name} is only looked at`);
    return database;
  }
}

/** lmdb-js walks backwards from `start` (here exclusive) down to `end` (exclusive there, inclusive here). */
export function rangeOptions(scan: Scan): object {
  const { from, to, limit } = scan;
  return scan.reverse === true
    ? { start: to, exclusiveStart: true, end: from, inclusiveEnd: true, reverse: true, limit }
    : { start: from, end: to, limit };
}

/** Values of one table that a unit gathers at most: some MiB of blocks. */
const MAX_GATHERED = 1_000;

/**
 * The writer of one unit of work. Changes of tables with `gather` stay in memory, where the unit sees them, and
 * are written once, by `flush` at its end: a unit that labels a hundred messages alike changes one block and one
 * count a hundred times. What a refused unit has gathered goes with it.
 */
export class GatheringWriter implements Writer {
  readonly isUnit = true;
  readonly #writer: DirectWriter;
  #owedBytes = 0;
  #topics: Set<string> | null = null;
  #happened: string[] | null = null;
  /** By name of the table. */
  readonly #gathered = new Map<string, Gathered<unknown, unknown>>();

  constructor(writer: DirectWriter) {
    this.#writer = writer;
  }

  /** What the unit makes the store owe to the parsing of mail. */
  get owedBytes(): number {
    return this.#owedBytes;
  }

  owe(bytes: number): void {
    this.#owedBytes += bytes;
  }

  /** What the unit is about; null when nothing was announced. */
  get topics(): ReadonlySet<string> | null {
    return this.#topics;
  }

  /** What has happened, once for each time; null when nothing of it is counted. */
  get happened(): readonly string[] | null {
    return this.#happened;
  }

  announce(topic: string, what?: string): void {
    this.#topics ??= new Set();
    this.#topics.add(topic);
    if (what === undefined) return;
    this.#happened ??= [];
    this.#happened.push(what);
  }

  get<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined {
    const known = this.#gatheredOf(table)?.find(key);
    return known === undefined ? this.#writer.get(table, key) : known.value;
  }

  has<Key, Value>(table: Table<Key, Value>, key: Key): boolean {
    const known = this.#gatheredOf(table)?.find(key);
    return known === undefined ? this.#writer.has(table, key) : known.value !== undefined;
  }

  scan<Key, Value>(table: Table<Key, Value>, scan: Scan): Entry<Value>[] {
    this.#flushTable(table.name);
    return this.#writer.scan(table, scan);
  }

  scanKeys<Key, Value>(table: Table<Key, Value>, scan: Scan): Buffer[] {
    this.#flushTable(table.name);
    return this.#writer.scanKeys(table, scan);
  }

  put<Key, Value>(table: Table<Key, Value>, key: Key, value: Value): void {
    const gathered = this.#gatheredOf(table);
    if (gathered === undefined) this.#writer.put(table, key, value);
    else gathered.keep(key, value);
  }

  remove<Key, Value>(table: Table<Key, Value>, key: Key): void {
    const gathered = this.#gatheredOf(table);
    if (gathered === undefined) this.#writer.remove(table, key);
    else gathered.keep(key, undefined);
  }

  update<Key, Value>(table: Table<Key, Value>, key: Key, change: Change<Value>): boolean {
    const gathered = this.#gatheredOf(table);
    return gathered === undefined
      ? this.#writer.update(table, key, change)
      : gathered.update(key, change, this.#writer);
  }

  /** Writes what was gathered. */
  flush(): void {
    for (const name of this.#gathered.keys()) this.#flushTable(name);
  }

  /** Undefined for a table that is not gathered. */
  #gatheredOf<Key, Value>(table: Table<Key, Value>): Gathered<Key, Value> | undefined {
    const known = this.#gathered.get(table.name);
    if (known?.table === table && known.size < MAX_GATHERED) return known as Gathered<Key, Value>;
    // Too many values, or another view of the same table: write what was gathered, so that all see it.
    this.#flushTable(table.name);
    if (table.gather === undefined) return undefined;
    const gathered = new Gathered(table, table.gather);
    this.#gathered.set(table.name, gathered as Gathered<unknown, unknown>);
    return gathered;
  }

  #flushTable(name: string): void {
    this.#gathered.get(name)?.writeTo(this.#writer);
    this.#gathered.delete(name);
  }
}

interface KeptValue<Key, Value> {
  readonly key: Key;
  /** Undefined: removed. */
  value: Value | undefined;
}

/** What a unit has changed in one table. */
class Gathered<Key, Value> {
  readonly table: Table<Key, Value>;
  readonly #gather: Gather<Value>;
  /** By the bytes of the key. */
  readonly #values = new Map<string, KeptValue<Key, Value>>();

  constructor(table: Table<Key, Value>, gather: Gather<Value>) {
    this.table = table;
    this.#gather = gather;
  }

  get size(): number {
    return this.#values.size;
  }

  find(key: Key): KeptValue<Key, Value> | undefined {
    return this.#values.get(this.#nameOf(key));
  }

  keep(key: Key, value: Value | undefined): void {
    const name = this.#nameOf(key);
    this.#keep(name, this.#values.get(name), key, value);
  }

  update(key: Key, change: Change<Value>, writer: DirectWriter): boolean {
    const name = this.#nameOf(key);
    const known = this.#values.get(name);
    const value = change(known === undefined ? writer.get(this.table, key) : known.value);
    if (value === null) return false;
    this.#keep(name, known, key, value);
    return true;
  }

  #keep(name: string, known: KeptValue<Key, Value> | undefined, key: Key, value: Value | undefined): void {
    const kept = value === undefined ? undefined : this.#gather(value, known?.value);
    if (known === undefined) this.#values.set(name, { key, value: kept });
    else known.value = kept;
  }

  writeTo(writer: DirectWriter): void {
    for (const { key, value } of this.#values.values()) {
      if (value === undefined) writer.remove(this.table, key);
      else writer.put(this.table, key, value);
    }
  }

  #nameOf(key: Key): string {
    return this.table.encodeKey(key).toString('latin1');
  }
}

/**
 * Counts every change, by any process, of the tables that decide who may do what (`decidesAccess`): the
 * writer does it by itself. What was found out about access at one version holds for as long as a fresh
 * read gives that version again.
 */
export const accessVersionTable: Table<null, number> = {
  name: 'access_version',
  encodeKey: () => ONLY_KEY,
  encodeValue: u48,
  decodeValue: bytes => bytes.readUIntBE(0, 6),
};

const ONLY_KEY = Buffer.of(0);

export function accessVersion(reader: Reader): number {
  return reader.get(accessVersionTable, null) ?? 0;
}

function countAccessChange(writer: DirectWriter): void {
  writer.put(accessVersionTable, null, accessVersion(writer) + 1);
}
