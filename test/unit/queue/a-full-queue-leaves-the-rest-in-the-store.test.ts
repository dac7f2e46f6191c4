import t from 'tap';
import { newMessageIds, startRedis } from '../../support/redis/redis.js';
import { openQueue, startWorks } from './with-queue.js';

t.test('what finds no room is dropped or left, and room is told when half of it is free', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address, { maxQueued: 10 });
  const ids = newMessageIds(12);
  t.same(await queue.add(ids), { added: 10, isFull: true });
  queue.offer(newMessageIds(1));
  t.equal(queue.dropped, 1);
  let told = 0;
  queue.onReady(() => told++);
  for (const id of ids.slice(0, 4)) queue.done(id);
  t.equal(told, 0);
  queue.done(ids[4]!);
  t.equal(told, 1);
  for (const id of ids.slice(5, 10)) queue.done(id);
  t.equal(told, 1, 'once');
  t.same(await queue.add(ids), { added: 10, isFull: true });
});

t.test('a backlog of many times its size is worked off without waiting for an interval', async t => {
  const { redis } = await startRedis(t);
  const { queue, pending } = await startWorks(t, redis.address, { maxQueued: 100 });
  queue.offer(pending.add(1_000));
  t.equal(queue.dropped, 900);
  await pending.untilAtMost(0);
  t.ok(queue.size <= 100);
});
