import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { ParsePoolOptions } from '../../../src/workers/parse-pool.js';
import { chunks, gate, letter, small, startPool, subjectOf } from './with-pool.js';

const LARGE = 2 * 1024 * 1024;

/** A pool whose large messages say nothing before they are told to. All say their names in the end. */
async function startGated(t: Test, options: Partial<ParsePoolOptions>) {
  const { pool } = await startPool(t, options);
  const done: string[] = [];
  /** Begins a message, which is parsed once `opened`. */
  const parse = (name: string, owner: string, size: number, opened: Promise<void> = Promise.resolve()) => {
    async function* bytes(): AsyncGenerator<Uint8Array> {
      await opened;
      yield Buffer.from(name);
    }
    const source = size === LARGE ? letter(bytes(), { owner, size }) : small(name, { owner });
    return pool.parse(source).then(outcome => {
      done.push(`${subjectOf(outcome)}`);
    });
  };
  return { pool, parse, done };
}

t.test('with one worker, small ones are parsed beside a large one, on a second thread', async t => {
  const { pool, parse, done } = await startGated(t, { workers: 1, spareMs: 1 });
  const { opened, open } = gate();
  const large = [parse('L1', 'ann', LARGE, opened), parse('L2', 'ann', LARGE)];
  await Promise.all([parse('s1', 'ann', 100), parse('s2', 'bob', 100)]);
  t.same(done, ['s1', 's2']);
  t.match(pool.load, { active: 1, waiting: 1, threads: 2 }, 'the second large one waits');
  open();
  await Promise.all(large);
  t.same(done, ['s1', 's2', 'L1', 'L2']);
  while (pool.load.threads > 1) await delay(5);
  t.match(pool.load, { active: 0, waiting: 0, threads: 1 }, 'and the thread ends when it is not needed');
  await parse('s3', 'ann', 100);
});

t.test('without a large one, there is one thread only', async t => {
  const { pool, parse } = await startGated(t, { workers: 1 });
  await Promise.all(Array.from({ length: 20 }, (_, n) => parse(`s${n}`, 'ann', 100)));
  t.match(pool.load, { threads: 1 });
});

t.test('a small one that takes long counts as large', async t => {
  const { parse, done } = await startGated(t, { workers: 1 });
  const slow = parse('linger', 'ann', 100);
  await parse('s1', 'bob', 100);
  t.same(done, ['s1']);
  await slow;
});

t.test('a flood of small ones leaves a thread to the large ones', async t => {
  for (const workers of [1, 2, 3]) {
    const { parse, done } = await startGated(t, { workers });
    const { opened, open } = gate();
    const first = parse('slow', 'ann', 100);
    const flood = Array.from({ length: 9 }, () => parse('s', 'ann', 100));
    const large = [parse('L', 'bob', LARGE, opened), parse('L', 'bob', LARGE, opened)];
    open();
    await Promise.all([first, ...flood, ...large]);
    t.ok(done.indexOf('L') < 9, `${workers}: ${done.join('')}`);
  }
});

t.test('large ones never have all threads', async t => {
  const { pool, parse, done } = await startGated(t, { workers: 3 });
  const { opened, open } = gate();
  // All threads run, so that what is active depends on nothing else.
  await Promise.all(Array.from({ length: 30 }, () => parse('s', 'ann', 100)));
  while (pool.load.threads < 3) await Promise.all([1, 2, 3, 4].map(() => parse('s', 'ann', 100)));
  done.length = 0;
  const large = Array.from({ length: 5 }, () => parse('L', 'ann', LARGE, opened));
  await parse('s', 'bob', 100);
  t.same(done, ['s']);
  t.match(pool.load, { active: 2, waiting: 3 });
  open();
  await Promise.all(large);
});

t.test('owners take turns, among small and among large ones', async t => {
  for (const size of [100, LARGE]) {
    const { parse, done } = await startGated(t, { workers: 1 });
    const { opened, open } = gate();
    const first = parse('a0', 'ann', size, opened);
    const rest = [1, 2, 3].map(n => parse(`a${n}`, 'ann', size));
    const others = [parse('b1', 'bob', size), parse('c1', 'cid', size)];
    open();
    await Promise.all([first, ...rest, ...others]);
    t.same(done, ['a0', 'a1', 'b1', 'c1', 'a2', 'a3']);
  }
});

t.test('a stopped pool leaves no large message unanswered', async t => {
  const { pool } = await startPool(t, { workers: 1 });
  const sources = [1, 2, 3].map(() => letter(chunks('hang'), { size: LARGE }));
  const parses = sources.map(source => pool.parse(source));
  await pool.stop();
  for (const outcome of await Promise.all(parses)) t.match(outcome, { status: 'stopped' });
});
