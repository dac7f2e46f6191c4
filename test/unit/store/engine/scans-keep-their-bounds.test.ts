import fc from 'fast-check';
import t from 'tap';
import type { Scan } from '../../../../src/store/engine/tables.js';
import { linesTable } from '../lines.js';
import { withStore } from '../with-store.js';

const key = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });

t.test('a walk gives what lies from its start to before its end, in order, up to its limit', async t => {
  const store = await withStore(t);
  const stored = ['a', 'ab', 'abc', 'b', 'ba', 'bb', 'bca', 'c', 'cc', 'ccc'];
  await store.write(writer => {
    for (const line of stored) writer.put(linesTable, line, `value of ${line}`);
  });
  const expected = ({ from, to, limit, reverse }: Scan) => {
    const inside = stored.filter(
      line => Buffer.compare(Buffer.from(line), from) >= 0 && Buffer.compare(Buffer.from(line), to) < 0,
    );
    return (reverse === true ? inside.reverse() : inside).slice(0, limit);
  };
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(key, key, fc.nat(11), fc.boolean(), (one, other, limit, reverse) => {
        const scan: Scan = { from: Buffer.from(one), to: Buffer.from(other), limit, reverse };
        const entries = store.read(reader => reader.scan(linesTable, scan));
        const keys = store.read(reader => reader.scanKeys(linesTable, scan));
        const want = JSON.stringify(expected(scan));
        return (
          JSON.stringify(entries.map(entry => entry.key.toString())) === want &&
          JSON.stringify(keys.map(String)) === want &&
          entries.every(entry => entry.value === `value of ${entry.key}`)
        );
      }),
      { numRuns: 2000 },
    ),
  );
});

t.test('an empty start is the beginning', async t => {
  const store = await withStore(t);
  await store.write(writer => {
    for (const line of ['\u0000', 'm', 'z']) writer.put(linesTable, line, line);
  });
  for (const reverse of [false, true]) {
    const scan = { from: Buffer.alloc(0), to: Buffer.alloc(8, 0xff), limit: 9, reverse };
    const found = store.read(reader => reader.scanKeys(linesTable, scan)).map(String);
    t.strictSame(found, reverse ? ['z', 'm', '\u0000'] : ['\u0000', 'm', 'z']);
  }
});

t.test('a walk inside a unit of work sees what the unit has written', async t => {
  const store = await withStore(t);
  await store.write(writer => {
    writer.put(linesTable, 'b', 'b');
    writer.put(linesTable, 'c', 'c');
  });
  const seen = await store.write(writer => {
    writer.put(linesTable, 'a', 'a');
    writer.remove(linesTable, 'b');
    return writer.scanKeys(linesTable, { from: Buffer.alloc(0), to: Buffer.from('z'), limit: 9 }).map(String);
  });
  t.strictSame(seen, ['a', 'c']);
});
