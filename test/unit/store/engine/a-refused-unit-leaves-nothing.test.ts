import fc from 'fast-check';
import t from 'tap';
import { Refusal, refuse, resultOf } from '../../../../src/domain/errors.js';
import { FIRST, LAST, linesTable } from '../lines.js';
import { withStore } from '../with-store.js';

t.test('what a unit of work wrote before it threw is not there', async t => {
  const store = await withStore(t);
  await store.write(writer => writer.put(linesTable, 'kept', 'before'));
  const refusal = new Error('no');
  const unit = store.write(writer => {
    writer.put(linesTable, 'kept', 'changed');
    writer.put(linesTable, 'new', 'new');
    throw refusal;
  });
  await t.rejects(unit, refusal);
  t.equal(
    store.read(reader => reader.get(linesTable, 'kept')),
    'before',
  );
  t.notOk(store.read(reader => reader.has(linesTable, 'new')));
});

t.test('a refusal that leaves a unit of work arrives as itself, and the unit leaves nothing', async t => {
  const store = await withStore(t);
  await store.write(writer => writer.put(linesTable, 'kept', 'before'));
  const refusal = refuse('draft_busy', 'Somebody else came first.', { who: 'a' });
  const unit = store.write(writer => {
    writer.put(linesTable, 'kept', 'changed');
    writer.put(linesTable, 'new', 'new');
    writer.remove(linesTable, 'kept');
    throw refusal;
  });
  t.equal(await unit.catch(error => error), refusal, 'the very one');
  t.ok(refusal instanceof Refusal);
  t.strictSame(refusal.failure, {
    code: 'draft_busy',
    message: 'Somebody else came first.',
    details: { who: 'a' },
  });
  t.strictSame(
    store
      .read(reader => reader.scan(linesTable, { from: FIRST, to: LAST, limit: 9 }))
      .map(({ value }) => value),
    ['before'],
  );
  await store.write(writer => writer.put(linesTable, 'next', 'after'));
  t.equal(
    store.read(reader => reader.get(linesTable, 'next')),
    'after',
    'the store goes on',
  );
});

t.test('a refusal that is caught within a unit of work undoes nothing', async t => {
  const store = await withStore(t);
  const asked = await store.write(writer => {
    writer.put(linesTable, 'new', 'new');
    return resultOf(() => {
      throw refuse('not_found', 'There is none.');
    });
  });
  t.strictSame(asked, { ok: false, failure: { code: 'not_found', message: 'There is none.' } });
  t.ok(store.read(reader => reader.has(linesTable, 'new')));
});

t.test('a unit sees its own writes and those of the units before it, never a refused one', async t => {
  const store = await withStore(t);
  const line = fc.constantFrom('a', 'b', 'c');
  const unit = fc.record({
    steps: fc.array(fc.record({ line, isRemoval: fc.boolean(), value: fc.string() }), { maxLength: 4 }),
    isRefused: fc.boolean(),
  });
  await t.resolves(
    fc.assert(
      fc.asyncProperty(fc.array(unit, { maxLength: 8 }), async units => {
        await store.write(writer => {
          for (const key of writer.scanKeys(linesTable, { from: FIRST, to: LAST, limit: 99 })) {
            writer.remove(linesTable, key.toString());
          }
        });
        let model = new Map<string, string>();
        const outcomes = units.map(({ steps, isRefused }) => {
          const after = new Map(model);
          for (const step of steps) {
            if (step.isRemoval) after.delete(step.line);
            else after.set(step.line, step.value);
          }
          const expected = JSON.stringify([...after].sort());
          if (!isRefused) model = after;
          return store
            .write(writer => {
              for (const step of steps) {
                if (step.isRemoval) writer.remove(linesTable, step.line);
                else writer.put(linesTable, step.line, step.value);
              }
              const seen = writer.scan(linesTable, { from: FIRST, to: LAST, limit: 99 });
              if (JSON.stringify(seen.map(({ key, value }) => [key.toString(), value])) !== expected) {
                throw new Error('saw something else');
              }
              if (isRefused) throw new Error('refused');
            })
            .then(
              () => !isRefused,
              error => isRefused && error.message === 'refused',
            );
        });
        if ((await Promise.all(outcomes)).includes(false)) return false;
        const left = store.read(reader => reader.scan(linesTable, { from: FIRST, to: LAST, limit: 99 }));
        return (
          JSON.stringify(left.map(({ key, value }) => [key.toString(), value])) ===
          JSON.stringify([...model].sort())
        );
      }),
      { numRuns: 50 },
    ),
  );
});

t.test('a key that is too long is refused and spoils nothing', async t => {
  const store = await withStore(t);
  const unit = store.write(writer => {
    writer.put(linesTable, 'short', 'x');
    writer.put(linesTable, 'k'.repeat(1979), 'x');
  });
  await t.rejects(unit, /maximum key size/);
  t.notOk(store.read(reader => reader.has(linesTable, 'short')));
  await store.write(writer => writer.put(linesTable, 'k'.repeat(1978), 'x'));
  t.ok(store.read(reader => reader.has(linesTable, 'k'.repeat(1978))));
});
