import { type Id, idFromBytes, idToBytes } from '../../domain/ids.js';
import { type KeyRange, range, WHOLE_TABLE } from './keys.js';

/**
 * A table is one LMDB database: how its keys and values turn into bytes. It holds no connection; readers
 * and writers take it as an argument. Each record kind declares its tables in one file, with the version
 * of its values.
 */
export interface Table<Key, Value> {
  readonly name: string;
  readonly encodeKey: (key: Key) => Buffer;
  readonly encodeValue: (value: Value) => Buffer;
  readonly decodeValue: (bytes: LentBytes) => Value;
  /** Its records decide who may do what: every change of one raises the access version (`writer.ts`). */
  readonly decidesAccess?: true;
  /** Units of work change the same values many times: changes are kept in memory and written once (`writer.ts`). */
  readonly gather?: Gather<Value>;
}

/**
 * The bytes of a value where lmdb-js has them: in its own buffer, overwritten by the next read, whose `length`
 * (a property set by hand) is all that bounds the value. Numbers and text can be read out of them; they are no
 * `Buffer`, so that nothing keeps them.
 */
export type LentBytes = Pick<Buffer, 'readUIntBE' | 'toString' | 'length' | number>;

/** A view of lent bytes as long as the value is, and lent as they are. */
function viewOf(lent: LentBytes): Buffer {
  // From 16 MiB on lmdb-js gives a Uint8Array, whatever its types say.
  const { buffer, byteOffset, length } = lent as Buffer;
  return Buffer.from(buffer, byteOffset, length);
}

/** How a unit keeps a value that is put; `before` is what it had kept under the same key. */
export type Gather<Value> = (value: Value, before: Value | undefined) => Value;

/** For values that are never changed in place: kept as they are. */
export const asItIs = <Value>(value: Value): Value => value;

/** A value whose bytes are kept as they are. Reading copies them. */
export const rawValue = {
  encodeValue: (value: Buffer): Buffer => value,
  decodeValue: (bytes: LentBytes): Buffer => Buffer.from(viewOf(bytes)),
} as const;

/** A value that says nothing beyond being there. */
export const noValue = {
  encodeValue: (_value: true): Buffer => EMPTY,
  decodeValue: (_bytes: LentBytes): true => true,
} as const;

const EMPTY = Buffer.alloc(0);

/** An id as its 16 bytes. */
export function idValue<Value extends Id<string>>(): {
  encodeValue: (value: Value) => Buffer;
  decodeValue: (bytes: LentBytes) => Value;
} {
  return { encodeValue: idToBytes, decodeValue: bytes => idFromBytes<Value>(bytes) };
}

/**
 * JSON behind one version byte. A reader that meets another version stops: the migrations of this folder
 * bring every record to the version that the code knows before anything reads it.
 */
export function jsonValue<Value>(version: number): {
  encodeValue: (value: Value) => Buffer;
  decodeValue: (bytes: LentBytes) => Value;
} {
  return {
    encodeValue: value => {
      const text = JSON.stringify(value);
      const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(text, 'utf8'));
      bytes[0] = version;
      bytes.write(text, 1, 'utf8');
      return bytes;
    },
    decodeValue: bytes => {
      if (bytes[0] !== version) {
        throw new Error(
          `a record has version ${bytes[0]}, this program reads version ${version}: the store is damaged or half migrated`,
        );
      }
      return JSON.parse(viewOf(bytes).toString('utf8', 1)) as Value;
    },
  };
}

/** A key that already is bytes. */
export const bytesKey = (key: Buffer): Buffer => key;

/** A bounded walk over the keys of one table. */
export interface Scan extends KeyRange {
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
  /** It is that of a unit of work: what it sees may yet be undone. */
  readonly isUnit: boolean;
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
  /** From the commit on, mail waits whose parsing will take so many bytes (less than 0: no longer): `room.ts`. */
  owe(bytes: number): void;
  /**
   * Tells whoever listens (`Store.onCommitted`), once the unit of work is on disk, that it was about this.
   * @param what what has happened, where that is counted
   */
  announce(topic: string, what?: string): void;
}

/**
 * Copies a value of bytes into `target`, as much as fits, from `at` on: it takes no memory of its own.
 * @returns how many bytes; undefined when there is no value
 */
export function copyValue<Key>(
  reader: Reader,
  table: Table<Key, Buffer>,
  key: Key,
  target: Uint8Array,
  at: number,
): number | undefined {
  const { name, encodeKey } = table;
  return reader.get(
    { name, encodeKey, encodeValue: NOT_PUT, decodeValue: lent => viewOf(lent).copy(target, at) },
    key,
  );
}

const NOT_PUT = (): Buffer => EMPTY;

/** Gets undefined for a value that is not there; gives undefined to remove it, null to leave it. */
export type Change<Value> = (before: Value | undefined) => Value | undefined | null;

/** Entries that a walk reads at once. */
interface PageSizes {
  readonly first: number;
  /** Each page is longer than the one before, up to this. */
  readonly longest: number;
}

const USUAL_PAGES: PageSizes = { first: 256, longest: 256 };
const GROWTH = 8;

/** Every entry of a table in order, or those of a range of it, some at a time, with keys as bytes. */
export function* walkTable<Key, Value>(
  reader: Reader,
  table: Table<Key, Value>,
  { from, to }: KeyRange = range(WHOLE_TABLE),
  { first, longest }: PageSizes = USUAL_PAGES,
): Generator<Entry<Value>> {
  let rest: KeyRange = { from, to };
  for (let limit = first; ; limit = Math.min(GROWTH * limit, longest)) {
    const page = reader.scan(table, { limit, ...rest });
    yield* page;
    const last = page.at(-1);
    if (page.length < limit || last === undefined) return;
    rest = range(WHOLE_TABLE, last.key, to);
  }
}
