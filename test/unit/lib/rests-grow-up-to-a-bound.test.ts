import t from 'tap';
import { backOffMs } from '../../../src/lib/async.js';

t.test('each rest is twice the one before, and none is longer than the longest', async t => {
  const rests = { firstMs: 100, longestMs: 10_000 };
  t.same(
    [0, 1, 2, 6, 7, 8].map(failures => backOffMs(failures, rests)),
    [100, 200, 400, 6_400, 10_000, 10_000],
  );
  t.equal(backOffMs(100_000, rests), 10_000, 'however long it goes on');
  t.equal(backOffMs(0, { firstMs: 1_000, longestMs: 50 }), 50);
});
