import t from 'tap';
import { startRedis } from '../../support/redis/redis.js';
import { inOneLane, startWorks } from './with-queue.js';

t.test('refusals are told once, and work resumes when there is room', async t => {
  const { redis, client } = await startRedis(t);
  const { queue, pending, log } = await startWorks(t, redis.address);
  queue.offer(inOneLane(pending.add(5)));
  await pending.untilAtMost(0);

  const refused = log.hear(/does not take messages|refuses to hand out/);
  await client.config('SET', 'maxmemory', '1');
  queue.offer(inOneLane(pending.add(5)));
  await refused;
  t.equal(pending.size, 5);
  await client.config('SET', 'maxmemory', '0');
  // The next offer that succeeds shows that Redis accepts again, and the dropped ids are queued again.
  queue.offer(inOneLane(pending.add(1)));
  await pending.untilAtMost(0);
  t.ok(log.matching(/does not take messages/).length <= 1);
  t.ok(log.matching(/refuses to hand out/).length <= 1);
});
