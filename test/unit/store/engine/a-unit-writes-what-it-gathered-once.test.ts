import fc from 'fast-check';
import t from 'tap';
import { text } from '../../../../src/store/engine/keys.js';
import {
  asItIs,
  jsonValue,
  type Reader,
  type Table,
  type Writer,
} from '../../../../src/store/engine/tables.js';
import { GatheringWriter } from '../../../../src/store/engine/writer.js';
import { FIRST, LAST, linesTable } from '../lines.js';
import { withStore } from '../with-store.js';

/** The lines, gathered. */
const gathered: Table<string, string> = { ...linesTable, gather: asItIs };

const KEYS = ['a', 'b', 'c', 'd'] as const;
const key = fc.constantFrom(...KEYS);
const op = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), key, value: fc.string() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), key }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append' as const), key, value: fc.string({ minLength: 1 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('scan' as const) }) },
);
type Op = typeof op extends fc.Arbitrary<infer One> ? One : never;

function take(writer: Writer, table: Table<string, string>, model: Map<string, string>, one: Op): void {
  switch (one.kind) {
    case 'put':
      writer.put(table, one.key, one.value);
      model.set(one.key, one.value);
      return;
    case 'remove':
      writer.remove(table, one.key);
      model.delete(one.key);
      return;
    case 'append': {
      const after = (model.get(one.key) ?? '') + one.value;
      equal(
        writer.update(table, one.key, (before = '') => before + one.value),
        true,
      );
      model.set(one.key, after);
      return;
    }
    case 'drop':
      equal(
        writer.update(table, one.key, () => undefined),
        true,
      );
      model.delete(one.key);
      return;
    case 'leave':
      equal(
        writer.update(table, one.key, () => null),
        false,
      );
      return;
    case 'scan':
      equal(dump(writer, table), [...model].sort());
  }
}

function equal(found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  }
}

const dump = (reader: Reader, table: Table<string, string> = linesTable) =>
  reader.scan(table, { from: FIRST, to: LAST, limit: 99 }).map(entry => [entry.key.toString(), entry.value]);

t.test('units see what they have changed, in whatever view of a table, and leave it or nothing', async t => {
  const store = await withStore(t);
  const step = fc.record({ op, isGathered: fc.boolean() });
  const unit = fc.record({ steps: fc.array(step, { maxLength: 12 }), isRefused: fc.boolean() });
  await t.resolves(
    fc.assert(
      fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 4 }), async units => {
        await store.write(writer => {
          for (const name of KEYS) writer.remove(linesTable, name);
        });
        const model = new Map<string, string>();
        const runs = units.map(({ steps, isRefused }) => {
          const run = store.write(writer => {
            const before = new Map(model);
            for (const { op, isGathered } of steps) {
              const table = isGathered ? gathered : linesTable;
              take(writer, table, model, op);
              for (const name of KEYS) {
                equal(writer.get(table, name), model.get(name));
                equal(writer.has(table, name), model.has(name));
              }
            }
            if (!isRefused) return;
            model.clear();
            for (const [name, value] of before) model.set(name, value);
            throw new Error('refused');
          });
          return run.then(
            () => equal(isRefused, false),
            (error: Error) => equal([error.message, isRefused], ['refused', true]),
          );
        });
        await Promise.all(runs);
        equal(
          store.read(reader => dump(reader)),
          [...model].sort(),
        );
      }),
      { numRuns: 150 },
    ),
  );
});

t.test('a value that is changed many times is written once, and read once', async t => {
  const store = await withStore(t);
  const { writer, count } = counted();
  await store.write(inner => {
    const unit = new GatheringWriter(writer(inner));
    for (let n = 0; n < 100; n++) unit.update(gathered, 'a', (before = '') => `${before}x`);
    unit.put(gathered, 'b', '1');
    unit.remove(gathered, 'b');
    t.same(count, { get: 1, put: 0, remove: 0 });
    unit.flush();
    t.same(count, { get: 1, put: 1, remove: 1 });
    unit.flush();
    t.same(count, { get: 1, put: 1, remove: 1 }, 'and then no more');
  });
  t.equal(
    store.read(reader => reader.get(linesTable, 'a')),
    'x'.repeat(100),
  );
});

t.test('a unit that changes more than memory should hold writes some of it before its end', async t => {
  const store = await withStore(t);
  const { writer, count } = counted();
  const many: Table<number, number> = {
    name: linesTable.name,
    encodeKey: n => text(`line ${n}`),
    ...jsonValue<number>(1),
    gather: asItIs,
  };
  await store.write(inner => {
    const unit = new GatheringWriter(writer(inner));
    for (let n = 0; n < 2_500; n++) unit.put(many, n, n);
    t.ok(count.put >= 1_500, `${count.put} of 2500`);
    for (let n = 0; n < 2_500; n += 250) t.equal(unit.get(many, n), n);
    unit.flush();
    t.equal(count.put, 2_500);
  });
  t.equal(
    store.read(reader => reader.scanKeys(many, { from: FIRST, to: LAST, limit: 9_999 }).length),
    2_500,
  );
});

/** Counts what goes through to the store. */
function counted() {
  const count = { get: 0, put: 0, remove: 0 };
  const writer = (inner: Writer): Writer => ({
    isUnit: inner.isUnit,
    owe: bytes => inner.owe(bytes),
    announce: topic => inner.announce(topic),
    get: (table, key) => {
      count.get += 1;
      return inner.get(table, key);
    },
    has: (table, key) => inner.has(table, key),
    scan: (table, scan) => inner.scan(table, scan),
    scanKeys: (table, scan) => inner.scanKeys(table, scan),
    put: (table, key, value) => {
      count.put += 1;
      inner.put(table, key, value);
    },
    remove: (table, key) => {
      count.remove += 1;
      inner.remove(table, key);
    },
    update: (table, key, change) => inner.update(table, key, change),
  });
  return { writer, count };
}
