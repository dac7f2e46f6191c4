import type { Test } from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import { ParseConsumer, type ParseConsumerOptions } from '../../../src/queue/parse-consumer.js';
import { BullParseQueue } from '../../../src/queue/parse-queue.js';
import { Reconciler } from '../../../src/queue/reconciler.js';
import type { RedisAddress } from '../../../src/queue/redis-address.js';
import { PendingList, type RecordingLog, recordingLog } from '../../support/redis.js';

export const nowhere: RedisAddress = { mode: 'managed', socketPath: '/nonexistent/redis.sock' };

/** A producer that is connected (unless Redis is `nowhere`); closed after the test. */
export async function openQueue(
  t: Test,
  address: RedisAddress,
  options: { log?: RecordingLog; maxUnsent?: number } = {},
): Promise<BullParseQueue> {
  const queue = new BullParseQueue({ address, log: recordingLog(), ...options });
  t.teardown(() => queue.close());
  const ready = untilReady(queue);
  queue.start();
  if (address !== nowhere) await ready;
  return queue;
}

/** The next time that Redis becomes usable. */
export function untilReady(queue: BullParseQueue): Promise<void> {
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
  options: Partial<ParseConsumerOptions> = {},
): ParseConsumer {
  const consumer = new ParseConsumer({ address, log: recordingLog(), concurrency: 4, handler, ...options });
  t.teardown(() => consumer.close());
  consumer.start();
  return consumer;
}

export interface Works {
  readonly queue: BullParseQueue;
  readonly pending: PendingList;
  readonly reconciler: Reconciler<MessageId>;
  readonly log: RecordingLog;
}

/** Producer, consumer, reconciler and a pending list, wired as in the daemon. */
export async function startWorks(t: Test, address: RedisAddress): Promise<Works> {
  const log = recordingLog();
  const pending = new PendingList();
  const queue = await openQueue(t, address, { log });
  startConsumer(t, address, pending.done, { log });
  const reconciler = new Reconciler({ listPending: pending.list, queue, log, pageSize: 50 });
  t.teardown(() => reconciler.stop());
  reconciler.start();
  return { queue, pending, reconciler, log };
}
