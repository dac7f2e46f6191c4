import t from 'tap';
import { startPool, subjectOf } from './with-pool.js';

for (const deed of ['spin', 'hang']) {
  t.test(`${deed}: its time runs out, and the next message is parsed`, async t => {
    const { parse, pool, log } = await startPool(t, { timeoutMs: 300 });
    const [hanging, next] = await Promise.all([parse(deed), parse('next')]);
    t.match(hanging, { status: 'gave_up', reason: 'timeout' });
    // On a busy machine a new thread may need longer than this short limit: then tries again.
    const parsed = next.status === 'parsed' ? next : await parse('next');
    t.equal(subjectOf(parsed), 'next');
    t.equal(pool.load.active, 0);
    t.ok(log.matching(/ending a parser thread/).length >= 1);
  });
}

t.test('the others are not disturbed', async t => {
  const { parse } = await startPool(t, { workers: 2, timeoutMs: 2_000 });
  const hanging = parse('spin');
  for (let count = 0; count < 20; count++) t.equal(subjectOf(await parse(`${count}`)), `${count}`);
  t.match(await hanging, { reason: 'timeout' });
});
