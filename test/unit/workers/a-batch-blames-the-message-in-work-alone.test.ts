import t from 'tap';
import type { ParseOutcome } from '../../../src/usecases/ports.js';
import { keepLedger, startPool, subjectOf } from './with-pool.js';

/** The culprit's place in the batch: first, in the middle, last. */
const PLACES = [0, 4, 9];
const NEIGHBOURS = Array.from({ length: 9 }, (_, index) => `neighbour ${index}`);

const DEEDS = [
  { deed: 'exit', reason: 'worker_died' },
  { deed: 'uncaught', reason: 'worker_died' },
  { deed: 'late', reason: 'worker_died' },
  { deed: 'hog', reason: 'memory' },
  { deed: 'spin', reason: 'timeout' },
  { deed: 'hang', reason: 'timeout' },
  { deed: 'throw', reason: 'error' },
];

for (const { deed, reason } of DEEDS) {
  t.test(`${deed}: it alone is blamed, its neighbours are parsed`, async t => {
    for (const place of reason === 'timeout' ? PLACES.slice(1, 2) : PLACES) {
      const begun = keepLedger(t);
      const timeoutMs = reason === 'timeout' ? 600 : 30_000;
      const { pool, parse } = await startPool(t, { timeoutMs, memoryMib: 32 });
      const texts = NEIGHBOURS.toSpliced(place, 0, deed);
      // While the first one is parsed, the others gather, and then share a thread.
      const first = parse('slow');
      const parses = texts.map(text => parse(text));
      await first;
      t.match(pool.load, { active: texts.length, waiting: 0 }, 'they are one batch');
      const outcomes = await Promise.all(parses);
      t.match(outcomes[place], { status: 'gave_up', reason });
      t.same(outcomes.toSpliced(place, 1).map(subjectOf), NEIGHBOURS);
      t.equal(begun().filter(text => text === deed).length, 1, 'it was begun once');
      const behind = begun().filter(text => texts.indexOf(text) > place);
      t.same(behind, texts.slice(place + 1), 'those behind it were begun once, and in order');
      await pool.stop();
    }
  });
}

t.test('two culprits in one batch are blamed, each for itself', async t => {
  const { parse } = await startPool(t);
  const texts = ['gathers', 'a', 'exit', 'b', 'exit', 'c'];
  const outcomes = await Promise.all(texts.map(text => parse(text)));
  const culprits = outcomes.filter(({ status }) => status === 'gave_up');
  t.match(culprits, [{ reason: 'worker_died' }, { reason: 'worker_died' }]);
  t.same(parsed(outcomes), ['gathers', 'a', 'b', 'c']);
});

t.test('those behind a slow one do not wait for it', async t => {
  const begun = keepLedger(t);
  const { parse, pool } = await startPool(t);
  const gathers = parse('gathers');
  const slow = parse('spin');
  const behind = ['a', 'b', 'c'].map(text => parse(text));
  await gathers;
  t.same((await Promise.all(behind)).map(subjectOf), ['a', 'b', 'c']);
  t.match(pool.load, { active: 1, threads: 2 }, 'they were parsed on a second thread');
  t.same(begun(), ['gathers', 'spin', 'a', 'b', 'c']);
  await pool.stop();
  t.match(await slow, { status: 'stopped' });
});

function parsed(outcomes: readonly ParseOutcome[]): unknown[] {
  return outcomes.filter(({ status }) => status === 'parsed').map(subjectOf);
}
