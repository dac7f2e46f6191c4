import t from 'tap';
import { startRedis } from '../../support/redis/redis.js';
import { startWorks } from './with-queue.js';

t.test('one periodic run queues a backlog of many pages again', async t => {
  const { redis, client } = await startRedis(t);
  const { queue, pending, reconciler, log } = await startWorks(t, redis.address);
  const ids = pending.add(1_000);
  await queue.add(ids);
  await pending.untilAtMost(900);
  await client.flushall();
  await reconciler.runNow();
  await pending.untilAtMost(0);
  t.ok(ids.every(id => pending.timesHandled(id) >= 1));
  t.same(
    log.lines.filter(line => line.level === 'error' || line.level === 'warn'),
    [],
  );
});
