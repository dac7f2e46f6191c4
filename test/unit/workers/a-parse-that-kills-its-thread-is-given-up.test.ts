import t from 'tap';
import { startPool, subjectOf } from './with-pool.js';

for (const deed of ['exit', 'uncaught']) {
  t.test(`${deed}: without its words in the log, and the next message gets a new thread`, async t => {
    const { parse, log } = await startPool(t);
    t.match(await parse(deed), { status: 'gave_up', reason: 'worker_died' });
    t.equal(subjectOf(await parse('next')), 'next');
    t.equal(log.matching(/died/).length, 1);
    t.notMatch(JSON.stringify(log.lines), /secret/);
  });
}
