import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startRedis } from '../../support/redis/redis.js';
import { inOneLane, startWorks } from './with-queue.js';

t.test('the queue is filled again from the pending list', async t => {
  const { redis, dataDir, killAndAwaitRestart } = await startRedis(t);
  const { queue, pending } = await startWorks(t, redis.address);
  const ids = pending.add(1_000);
  await queue.add(ids);
  await pending.untilAtMost(900);
  rmSync(join(dataDir, 'redis', 'appendonlydir'), { recursive: true });
  await killAndAwaitRestart();
  await pending.untilAtMost(0);
  t.ok(ids.every(id => pending.timesHandled(id) >= 1));
});

t.test('and what comes after it is worked on as ever', async t => {
  const { redis, dataDir, killAndAwaitRestart } = await startRedis(t);
  const { queue, pending } = await startWorks(t, redis.address);
  rmSync(join(dataDir, 'redis', 'appendonlydir'), { recursive: true });
  await killAndAwaitRestart();
  queue.offer(inOneLane(pending.add(20)));
  await pending.untilAtMost(0);
  t.equal(pending.size, 0);
});
