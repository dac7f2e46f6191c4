import t from 'tap';
import { newMessageIds, startRedis } from '../../support/redis/redis.js';
import { inOneLane, jobsIn, nowhere, openQueue, untilReady } from './with-queue.js';

t.test('while Redis is away they are dropped', async t => {
  const queue = await openQueue(t, nowhere);
  queue.offer(inOneLane(newMessageIds(3)));
  t.equal(queue.dropped, 3);
  await t.rejects(queue.add(newMessageIds(1)), { name: 'QueueUnavailableError' });
});

t.test('a bounded number is queued', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address, { maxQueued: 10 });
  queue.offer(inOneLane(newMessageIds(8)));
  queue.offer(inOneLane(newMessageIds(8)));
  t.equal(queue.dropped, 11, 'one lane alone has half of the room');
});

t.test('what was under way when Redis ended is dropped, not waited for', async t => {
  const { redis, client, killAndAwaitRestart } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  process.kill(redis.pid!, 'SIGSTOP');
  const adding = queue.add(newMessageIds(5));
  const ready = untilReady(queue);
  await Promise.all([t.rejects(adding), killAndAwaitRestart(), ready]);
  await queue.add(newMessageIds(5));
  t.same(
    (await jobsIn(client)).map(ids => ids.length),
    [5],
  );
});

t.test('after close they are dropped', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  await queue.close();
  queue.offer(inOneLane(newMessageIds(2)));
  t.equal(queue.dropped, 2);
});
