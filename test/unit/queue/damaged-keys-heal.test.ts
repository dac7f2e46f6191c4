import t from 'tap';
import { startRedis } from '../../support/redis/redis.js';
import { inOneLane, startWorks } from './with-queue.js';

// The tests wait for a queue to rest, not for each other.
t.jobs = 6;

/** The keys that BullMQ 6 keeps for a queue besides those of its jobs. */
const KEYS = [
  'wait',
  'active',
  'id',
  'meta',
  'events',
  'marker',
  'prioritized',
  'delayed',
  'completed',
  'stalled',
];

for (const key of KEYS) {
  t.test(`a ${key} of another type: all that is pending is done`, { buffered: true }, async t => {
    const { redis, client } = await startRedis(t);
    const { queue, pending, log } = await startWorks(t, redis.address);
    await client.set('theirs', 'x');
    await client.set(`postern:parse:${key}`, 'no number');
    const ids = pending.add(100);
    queue.offer(inOneLane(ids));
    await pending.untilAtMost(0);
    t.ok(ids.every(id => pending.timesHandled(id) >= 1));
    t.equal(await client.get('theirs'), 'x', 'what is not ours stays');
    t.comment(`filled anew ${log.matching(/damaged/).length} times`);
  });
}

t.test('all keys at once, amid the work', { buffered: true }, async t => {
  const { redis, client } = await startRedis(t);
  const { queue, pending, log } = await startWorks(t, redis.address);
  const ids = pending.add(1_000);
  await queue.add(ids);
  await pending.untilAtMost(900);
  for (const key of await client.keys('postern:parse:*')) await client.set(key, 'x');
  await pending.untilAtMost(0);
  t.ok(ids.every(id => pending.timesHandled(id) >= 1));
  t.ok(log.matching(/damaged/).length >= 1);
});

t.test('at the start', { buffered: true }, async t => {
  const { redis, client } = await startRedis(t);
  for (const key of KEYS) await client.set(`postern:parse:${key}`, 'x');
  const { queue, pending, log } = await startWorks(t, redis.address);
  queue.offer(inOneLane(pending.add(10)));
  await pending.untilAtMost(0);
  t.same(
    log.lines.filter(line => line.level === 'error' || line.level === 'warn'),
    [],
  );
});
