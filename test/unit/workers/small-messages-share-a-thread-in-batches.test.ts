import t from 'tap';
import { BATCH_BYTES, BATCH_MESSAGES } from '../../../src/workers/parse-protocol.js';
import { keepLedger, small, startPool, subjectOf } from './with-pool.js';

/** A pool whose first thread has a message in hand: others gather behind it until `release`. */
async function startHeld(t: Parameters<typeof startPool>[0], options: Parameters<typeof startPool>[1] = {}) {
  const begun = keepLedger(t);
  const held = await startPool(t, options);
  const first = held.parse('slow');
  return { ...held, begun, release: () => first };
}

t.test('no more of them, and no more bytes, than a batch may have', async t => {
  const { pool, parse, release } = await startHeld(t);
  const many = Array.from({ length: BATCH_MESSAGES + 5 }, (_, n) => parse(`${n}`));
  await release();
  t.match(pool.load, { active: BATCH_MESSAGES, waiting: 5 });
  await Promise.all(many);

  const wide = await startHeld(t);
  const size = 200 * 1024;
  const large = Array.from({ length: 7 }, () => wide.pool.parse(small(Buffer.alloc(size, 65))));
  await wide.release();
  const fit = Math.floor(BATCH_BYTES / size);
  t.match(wide.pool.load, { active: fit, waiting: 7 - fit });
  for (const outcome of await Promise.all(large)) t.match(outcome, { status: 'parsed' });
});

t.test('one that cannot be read rejects, and holds up no other', async t => {
  const { pool, parse, release, begun } = await startHeld(t);
  const readInto = (): void => {
    throw new Error('disk on fire');
  };
  const failed = pool.parse(small('fail', { readInto }));
  const others = ['a', 'b'].map(text => parse(text));
  await Promise.all([release(), t.rejects(failed, { message: 'disk on fire' })]);
  t.same((await Promise.all(others)).map(subjectOf), ['a', 'b']);
  t.same(begun(), ['slow', 'a', 'b']);
  await t.rejects(pool.parse(small('alone', { readInto })), { message: 'disk on fire' });
  t.equal(subjectOf(await parse('next')), 'next', 'the thread is free');
});

t.test('a stop in the middle of a batch parses nothing twice, and loses no result', async t => {
  const { pool, parse, release, begun } = await startHeld(t);
  const texts = ['a', 'b', 'slow', 'c', 'hang', 'd', 'e'];
  const parses = texts.map(text => parse(text));
  await release();
  await Promise.all(parses.slice(0, 3));
  while (!begun().includes('hang')) await new Promise(resolve => setTimeout(resolve, 5));
  await pool.stop();
  const outcomes = await Promise.all(parses);
  t.same(outcomes.slice(0, 3).map(subjectOf), ['a', 'b', 'slow']);
  for (const outcome of outcomes.slice(4)) t.same(outcome, { status: 'stopped' });
  t.same(begun(), ['slow', 'a', 'b', 'slow', 'c', 'hang']);
});

t.test('threads divide what waits', async t => {
  const { pool, parse, release } = await startHeld(t, { workers: 2 });
  const many = Array.from({ length: 20 }, (_, n) => parse(`${n}`));
  await release();
  await Promise.all(many);
  t.match(pool.load, { threads: 2, active: 0, waiting: 0 });
});

t.test('while the main thread has too much to do, a thread rests between batches', async t => {
  const load = { isBusy: true };
  const { pool, parse } = await startPool(t, { load });
  await parse('one');
  const [second, third] = [parse('two'), parse('three')];
  t.match(pool.load, { waiting: 2, active: 0 }, 'it rests');
  for (const outcome of await Promise.all([second, third])) t.match(outcome, { status: 'parsed' });
  load.isBusy = false;
  await parse('four');
  const next = parse('five');
  t.match(pool.load, { waiting: 0, active: 1 }, 'it goes on at once');
  t.match(await next, { status: 'parsed' });
});
