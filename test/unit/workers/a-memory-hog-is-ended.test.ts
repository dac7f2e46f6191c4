import t from 'tap';
import { chunks, letter, startPool, subjectOf } from './with-pool.js';

t.test('one that fills the heap', async t => {
  const { parse } = await startPool(t, { memoryMib: 32 });
  const [hog, next] = await Promise.all([parse('hog'), parse('next')]);
  t.match(hog, { status: 'gave_up', reason: 'memory' });
  t.equal(subjectOf(next), 'next');
});

t.test('one that fills buffers outside of the heap', async t => {
  const { pool, parse } = await startPool(t, { memoryMib: 32 });
  const pieces = Array.from({ length: 100 }, () => Buffer.alloc(64 * 1024));
  const buffers = pool.parse(letter(chunks('buffers', ...pieces)));
  const [hog, next] = await Promise.all([buffers, parse('next')]);
  t.match(hog, { status: 'gave_up', reason: 'memory' });
  t.equal(subjectOf(next), 'next');
});
