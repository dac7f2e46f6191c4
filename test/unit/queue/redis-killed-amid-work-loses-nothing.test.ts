import t from 'tap';
import { startRedis } from '../../support/redis/redis.js';
import { inOneLane, startWorks } from './with-queue.js';

t.test('every pending message is worked on, those offered during the outage included', async t => {
  const { redis, killAndAwaitRestart } = await startRedis(t);
  const { queue, pending } = await startWorks(t, redis.address);
  const ids = pending.add(1_000);
  queue.offer(inOneLane(ids));
  await pending.untilAtMost(900);
  const restarted = killAndAwaitRestart();
  const meanwhile = pending.add(200);
  queue.offer(inOneLane(meanwhile));
  await restarted;
  await pending.untilAtMost(0);
  t.ok([...ids, ...meanwhile].every(id => pending.timesHandled(id) >= 1));
});

t.test('again and again', async t => {
  const { redis, killAndAwaitRestart } = await startRedis(t);
  const { queue, pending } = await startWorks(t, redis.address);
  for (let time = 0; time < 3; time++) {
    queue.offer(inOneLane(pending.add(300)));
    await pending.untilAtMost(250);
    await killAndAwaitRestart();
  }
  await pending.untilAtMost(0);
  t.equal(pending.size, 0);
});
