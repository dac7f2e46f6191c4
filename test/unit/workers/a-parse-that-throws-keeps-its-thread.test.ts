import t from 'tap';
import { startPool, subjectOf } from './with-pool.js';

t.test('the message is given up, without its words in the log', async t => {
  const { parse, log } = await startPool(t);
  const outcome = await parse('throw');
  t.match(outcome, {
    status: 'gave_up',
    reason: 'error',
    detail: /^TypeError at unruly-thread\.js:\d+:\d+$/,
  });
  t.equal(subjectOf(await parse('next')), 'next');
  t.same(log.lines, [], 'no thread was ended');
});
