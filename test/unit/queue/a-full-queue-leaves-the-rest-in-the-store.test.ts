import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import type { Scope } from '../../../src/queue/reconciler.js';
import type { Lane } from '../../../src/queue/work-places.js';
import { newMessageIds, startRedis } from '../../support/redis/redis.js';
import { inOneLane, LANE, openQueue, startWorks } from './with-queue.js';

t.test('what finds no room is dropped or left, and room is told when half of it is free', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address, { maxQueued: 10 });
  const ids = newMessageIds(12);
  t.match(await queue.add(ids), { added: 5 }, 'as many as are left for others');
  queue.offer(inOneLane(newMessageIds(1)));
  t.equal(queue.dropped, 1);
  const told: Scope[] = [];
  queue.onReady(scope => told.push(scope));
  queue.done(ids[0]!);
  t.same(told, []);
  queue.done(ids[1]!);
  t.same(told, ['room']);
  for (const id of ids.slice(2, 5)) queue.done(id);
  t.same(told, ['room'], 'once');
  t.match(await queue.add(ids), { added: 5, isRefilled: true });
});

t.test('one lane leaves room for the others, and is filled up when they have theirs', async t => {
  const { redis } = await startRedis(t);
  const of = (owner: string): Lane => ({ ...LANE, owner });
  const owners = new Map<MessageId, string>();
  const own = (owner: string, count: number): MessageId[] => {
    const ids = newMessageIds(count);
    for (const id of ids) owners.set(id, owner);
    return ids;
  };
  const laneOf = (id: MessageId): Lane => of(owners.get(id) ?? '');
  const queue = await openQueue(t, redis.address, { maxQueued: 12, laneOf });
  const ann = own('ann', 100);
  t.match(await queue.add(ann), { added: 6, isFull: false });
  t.match(await queue.add(own('bob', 100)), { added: 3, isFull: false });
  t.match(await queue.add(own('cid', 1)), { added: 1, isFull: false }, 'the first of a third one');
  t.equal(queue.laneOf(ann[0]!)?.owner, 'ann');
  queue.offer([{ id: own('dan', 1)[0]!, lane: of('dan') }]);
  t.equal(queue.dropped, 0);
});

t.test('a backlog of many times its size is worked off without waiting for an interval', async t => {
  const { redis } = await startRedis(t);
  const { queue, pending } = await startWorks(t, redis.address, { maxQueued: 100 });
  queue.offer(inOneLane(pending.add(1_000)));
  t.equal(queue.dropped, 950);
  await pending.untilAtMost(0);
  t.ok(queue.size <= 100);
});
