import t from 'tap';
import { startPool, subjectOf } from './with-pool.js';

t.test('first come, first served', async t => {
  const { parse, pool } = await startPool(t);
  const order: unknown[] = [];
  const texts = Array.from({ length: 50 }, (_, index) => `${index}`);
  const parses = texts.map(async text => order.push(subjectOf(await parse(text))));
  t.match(pool.load, { active: 1, waiting: 49, threads: 1 });
  await Promise.all(parses);
  t.same(order, texts);
});

t.test('on no more threads than allowed', async t => {
  const { parse, pool } = await startPool(t, { workers: 2 });
  const parses = Array.from({ length: 50 }, (_, index) => parse(`${index}`));
  t.equal(pool.load.threads, 2);
  await Promise.all(parses);
  t.match(pool.load, { active: 0, waiting: 0, threads: 2 });
});
