import type { Test } from 'tap';
import t from 'tap';
import { newMessageIds, recordingLog, startRedis } from '../../support/redis/redis.js';
import { jobsIn, nowhere, openQueue, startConsumer } from './with-queue.js';

/** A consumer with one id in flight; `release` lets its handler end. */
async function busyConsumer(t: Test, closeTimeoutMs: number) {
  const { redis, client } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const log = recordingLog();
  let release: () => void = () => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let isDone = false;
  const started = new Promise<ReturnType<typeof startConsumer>>(resolve => {
    const consumer = startConsumer(
      t,
      redis.address,
      async () => {
        resolve(consumer);
        await held;
        isDone = true;
      },
      { closeTimeoutMs, log },
    );
  });
  await queue.add(newMessageIds(1));
  return { consumer: await started, client, log, redis, release, isDone: () => isDone };
}

t.test('a handler that ends in time is waited for, and its job is gone', async t => {
  const { consumer, client, release, isDone } = await busyConsumer(t, 30_000);
  const closing = consumer.close();
  t.notOk(isDone());
  release();
  await closing;
  t.ok(isDone());
  t.same(await jobsIn(client), []);
});

t.test('one that does not is let go', async t => {
  const { consumer, log, release, isDone } = await busyConsumer(t, 50);
  await consumer.close();
  t.notOk(isDone());
  t.match(log.matching(/stopping while/), [{ level: 'warn', fields: { messages: 1 } }]);
  release();
});

t.test('no Redis does not hold it up', async t => {
  const neverConnected = startConsumer(t, nowhere, async () => undefined);
  await neverConnected.close();
  const { consumer, redis, release } = await busyConsumer(t, 50);
  await redis.stop();
  await consumer.close();
  release();
  t.pass('closed');
});
