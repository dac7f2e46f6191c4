import fc from 'fast-check';
import t from 'tap';
import { type InboxId, newId } from '../../../../src/domain/ids.js';
import { BLOCK_BITS } from '../../../../src/store/bitmap/bit-block.js';
import { BlockCache } from '../../../../src/store/bitmap/block-cache.js';
import type { Words } from '../../../../src/store/bitmap/words.js';
import type { Store } from '../../../../src/store/engine/store.js';
import type { Reader, Writer } from '../../../../src/store/engine/tables.js';
import { countChange, type Folder } from '../../../../src/store/mailbox/folders.js';
import { addPosting, removePosting, type Term } from '../../../../src/store/mailbox/postings.js';
import { countSelected, selectMessages } from '../../../../src/store/mailbox/select-messages.js';
import { openStore } from '../../../../src/store/open-store.js';
import { dataDirectory, storeOptions, withStore } from '../with-store.js';

const folder: Folder = { inboxId: newId<InboxId>(1), kind: 'received' };
const label = (name: string): Term => ({ type: 'label', label: name });
const END = 3 * BLOCK_BITS;

function change(writer: Writer, names: readonly string[], seq: number, isAdded: boolean): void {
  for (const name of names) {
    if (isAdded) addPosting(writer, folder, label(name), seq);
    else removePosting(writer, folder, label(name), seq);
  }
  countChange(writer, folder, 0);
}

const selection = (names: readonly string[]) => ({
  all: names.map(label),
  any: [],
  none: [],
  from: 1,
  to: END,
});

const found = (reader: Reader, ...names: string[]): readonly number[] =>
  selectMessages(reader, folder, selection(names), { isDescending: false, limit: 100 }).seqs;

/** Gives the bytes of blocks by the key of their set and their number. */
function readerOf(read: (set: Buffer, block: number) => Buffer | undefined): Reader {
  const get: Reader['get'] = (table, key) => {
    const bytes = table.encodeKey(key);
    const value = read(bytes.subarray(0, -4), bytes.readUInt32BE(bytes.length - 4));
    return value === undefined ? undefined : table.decodeValue(value);
  };
  return { get } as Reader;
}

t.test('a block is read twice for a version of its mailbox, one without members once', async t => {
  const cache = new BlockCache(10);
  const bytes = new Map([['a', Buffer.from(Uint16Array.of(3, 5).buffer)]]);
  let reads = 0;
  const reader = readerOf(set => {
    reads += 1;
    return bytes.get(set.toString());
  });
  const [a, b] = cache.begin([Buffer.from('a'), Buffer.from('b')]);
  const members = (words: Words | null | undefined) =>
    words == null ? null : cache.memory.list(words, false, 9);
  for (let again = 0; again < 3; again++) {
    t.same(members(a?.get(reader, 0, 7)), [3, 5]);
    t.equal(b?.get(reader, 0, 7), null);
  }
  t.equal(reads, 3);
  bytes.set('b', Buffer.from(Uint16Array.of(9).buffer));
  bytes.delete('a');
  t.equal(a?.get(reader, 0, 8), null);
  t.same(members(b?.get(reader, 0, 8)), [9]);
  bytes.set('a', Buffer.from(Uint16Array.of(1).buffer));
  t.same(members(cache.begin([Buffer.from('a')])[0]?.get(reader, 0, 9)), [1]);
});

t.test('however few blocks may be kept, every walk finds what a cache without limit finds', async t => {
  const term = fc.nat(7);
  const block = fc.nat(5);
  const reader = readerOf((set, at) => Buffer.from(Uint16Array.of(8 * set[0]! + at).buffer));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.record({ term, block }), { minLength: 1, maxLength: 12 }), { maxLength: 12 }),
        fc.nat(9),
        (walks, limit) => {
          const cache = new BlockCache(limit);
          return walks.every(looks => {
            const sets = cache.begin(looks.map(look => Buffer.of(look.term)));
            return looks.every((look, n) => {
              const words = sets[n]?.get(reader, look.block, 1);
              return cache.memory.list(words!, false, 9).join() === String(8 * look.term + look.block);
            });
          });
        },
      ),
    ),
  );
});

t.test('sets follow every change, of this process and of others', async t => {
  const path = dataDirectory(t);
  const store = await withStore(t, { path });
  const other = openStore(storeOptions(path));
  t.teardown(() => other.close());
  const seqs = [5, BLOCK_BITS + 1, 2 * BLOCK_BITS + 70];
  const look = (): unknown => store.read(reader => [found(reader, 'x'), found(reader, 'x', 'y')]);
  t.same(look(), [[], []]);
  for (const [n, seq] of seqs.entries()) {
    const by: Store = n % 2 === 0 ? store : other;
    await by.write(writer => change(writer, ['x', 'y'], seq, true));
    t.same(look(), [seqs.slice(0, n + 1), seqs.slice(0, n + 1)]);
  }
  await other.write(writer => change(writer, ['y'], seqs[1]!, false));
  t.same(look(), [seqs, [seqs[0], seqs[2]]]);
  await store.write(writer => change(writer, ['x'], seqs[0]!, false));
  t.same(look(), [seqs.slice(1), [seqs[2]]]);
  t.equal(
    store.read(reader => countSelected(reader, folder, selection(['x'])).count),
    2,
  );
});

t.test('a unit sees its own changes; when it is refused nothing of them stays behind', async t => {
  const store = await withStore(t);
  await store.write(writer => change(writer, ['x'], 1, true));
  t.same(
    store.read(reader => found(reader, 'x')),
    [1],
  );
  for (const seq of [2, 3]) {
    const refused = store.write(writer => {
      // Both make the same version of the folder.
      change(writer, ['x'], seq, true);
      t.same(found(writer, 'x'), [1, seq]);
      change(writer, ['x'], 1, false);
      t.same(found(writer, 'x'), [seq]);
      throw new Error('refused');
    });
    await t.rejects(refused, /refused/);
    t.same(
      store.read(reader => found(reader, 'x')),
      [1],
    );
  }
  await store.write(writer => change(writer, ['x'], 4, true));
  t.same(
    store.read(reader => found(reader, 'x')),
    [1, 4],
  );
});
