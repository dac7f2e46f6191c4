import type { Redis } from 'ioredis';
import type { Test } from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import type { RedisAddress, RedisSpace } from '../../../src/queue/connection.js';
import { Reconciler } from '../../../src/queue/reconciler.js';
import { WorkConsumer, type WorkConsumerOptions } from '../../../src/queue/work-consumer.js';
import type { Lane } from '../../../src/queue/work-places.js';
import { BullWorkQueue, type Offer } from '../../../src/queue/work-queue.js';
import { PendingList, type RecordingLog, recordingLog } from '../../support/redis/redis.js';

export const nowhere: RedisAddress = { mode: 'managed', socketPath: '/nonexistent/redis.sock' };

/** The lane of every id, where lanes are not what is looked at. */
export const LANE: Lane = { way: 'only', owner: 'ann', isAlone: false };

export function inOneLane(ids: readonly MessageId[]): Offer[] {
  return ids.map(id => ({ id, lane: LANE }));
}

/** Our namespace in a Redis. */
export function spaceIn(address: RedisAddress): RedisSpace {
  return { address, prefix: 'postern' };
}

/** A connected producer (not connected if Redis is `nowhere`), closed after the test. */
export async function openQueue(
  t: Test,
  address: RedisAddress,
  options: { log?: RecordingLog; maxQueued?: number; laneOf?: (id: MessageId) => Lane } = {},
): Promise<BullWorkQueue> {
  const queue = new BullWorkQueue({
    name: 'parse',
    redis: spaceIn(address),
    log: recordingLog(),
    laneOf: () => LANE,
    ...options,
  });
  t.teardown(() => queue.close());
  const ready = untilReady(queue);
  queue.start();
  if (address !== nowhere) await ready;
  return queue;
}

/** Resolves when Redis next becomes usable. */
export function untilReady(queue: BullWorkQueue): Promise<void> {
  return new Promise(resolve => {
    const unsubscribe = queue.onReady(() => {
      unsubscribe();
      resolve();
    });
  });
}

export function startConsumer(
  t: Test,
  address: RedisAddress,
  handler: (id: MessageId) => Promise<void>,
  options: Partial<WorkConsumerOptions> = {},
): WorkConsumer {
  const consumer = new WorkConsumer({
    name: 'parse',
    redis: spaceIn(address),
    log: recordingLog(),
    places: { only: 16 },
    laneOf: () => LANE,
    handler,
    ...options,
  });
  t.teardown(() => consumer.close());
  consumer.start();
  return consumer;
}

/** The jobs in Redis, each with its ids. */
export async function jobsIn(client: Redis): Promise<string[][]> {
  const keys = await client.keys('postern:parse:b*');
  const datas = await Promise.all(
    keys.filter(key => /:b\d+$/.test(key)).map(key => client.hget(key, 'data')),
  );
  return datas.map(data => JSON.parse(data ?? '[]') as string[]);
}

export interface Works {
  readonly queue: BullWorkQueue;
  readonly pending: PendingList;
  readonly reconciler: Reconciler<MessageId>;
  readonly log: RecordingLog;
}

/** Producer, consumer, reconciler and a pending list, wired as in the daemon. */
export async function startWorks(
  t: Test,
  address: RedisAddress,
  options: { maxQueued?: number } = {},
): Promise<Works> {
  const log = recordingLog();
  const pending = new PendingList();
  const queue = await openQueue(t, address, { log, ...options });
  startConsumer(t, address, pending.done, {
    log,
    onTaken: job => queue.taken(job),
    onDone: id => queue.done(id),
    onDamage: () => queue.rebuild(),
  });
  const reconciler = new Reconciler({ listPending: pending.list, queue, log, pageSize: 50 });
  t.teardown(() => reconciler.stop());
  reconciler.start();
  return { queue, pending, reconciler, log };
}
