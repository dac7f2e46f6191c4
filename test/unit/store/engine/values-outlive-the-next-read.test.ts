import fc from 'fast-check';
import t from 'tap';
import { type BlobId, newId } from '../../../../src/domain/ids.js';
import { blobChunksTable } from '../../../../src/store/records/blobs.js';
import { linesTable } from '../lines.js';
import { withStore } from '../with-store.js';

// LMDB hands out one buffer for every read, and a larger one from the first large value on.
const SIZES = [0, 1, 100, 4_000, 16_383, 16_385, 40_000, 65_520, 200_000];

t.test('bytes and objects of every size keep their contents while others are read', async t => {
  const store = await withStore(t);
  const ids = SIZES.map(() => newId<BlobId>(Date.now()));
  const bytes = SIZES.map((size, index) => Buffer.alloc(size, index + 1));
  const texts = SIZES.map((size, index) => String.fromCharCode(97 + index).repeat(size));
  await store.write(writer => {
    for (const [index, id] of ids.entries()) {
      writer.put(blobChunksTable, { id, index: 0 }, bytes[index]!);
      writer.put(linesTable, `line${index}`, texts[index]!);
      const kept = writer.get(blobChunksTable, { id, index: 0 });
      if (!kept?.equals(bytes[index]!)) throw new Error(`${index} inside the unit`);
    }
  });
  const pick = fc.record({ index: fc.nat(SIZES.length - 1), isText: fc.boolean() });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(pick, { minLength: 2, maxLength: 12 }), picks =>
        store.read(reader => {
          const values = picks.map(({ index, isText }) =>
            isText
              ? reader.get(linesTable, `line${index}`)
              : reader.get(blobChunksTable, { id: ids[index]!, index: 0 }),
          );
          return picks.every(({ index, isText }, at) =>
            isText ? values[at] === texts[index] : (values[at] as Buffer).equals(bytes[index]!),
          );
        }),
      ),
      { numRuns: 300 },
    ),
  );
});

t.test('so do those of a walk', async t => {
  const store = await withStore(t);
  await store.write(writer => {
    for (const [index, size] of SIZES.entries()) writer.put(linesTable, `line${index}`, 'x'.repeat(size));
  });
  const walked = store.read(reader =>
    reader.scan(linesTable, { from: Buffer.from('line'), to: Buffer.from('linf'), limit: 99 }),
  );
  t.strictSame(
    walked.map(({ key, value }) => [key.toString(), value.length]),
    SIZES.map((size, n) => [`line${n}`, size]),
  );
});

t.test('a record of another version stops the reader', async t => {
  const store = await withStore(t);
  await store.write(writer => {
    writer.put({ ...linesTable, encodeValue: () => Buffer.from('\u0002"x"') }, 'line', 'x');
  });
  t.throws(
    () => store.read(reader => reader.get(linesTable, 'line')),
    /version 2, this program reads version 1/,
  );
});

t.test('a record of megabytes is read as well', async t => {
  const store = await withStore(t);
  for (const size of [15 * 2 ** 20, 17 * 2 ** 20]) {
    await store.write(writer => writer.put(linesTable, 'large', 'x'.repeat(size)));
    t.equal(store.read(reader => reader.get(linesTable, 'large'))?.length, size);
  }
});
