import type { Entry, Reader } from './reader-writer.js';
import type { Table } from './table.js';

const PAGE = 256;
/** Behind every key: none begins with so many. */
const END = Buffer.alloc(64, 0xff);

/** Every entry of a table in order, some at a time, with keys as bytes. */
export function* walkTable<Key, Value>(reader: Reader, table: Table<Key, Value>): Generator<Entry<Value>> {
  for (let from = Buffer.alloc(1); ; ) {
    const page = reader.scan(table, { from, to: END, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return;
    from = Buffer.concat([last.key, Buffer.of(0)]);
  }
}
