import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import { newMessageIds, startRedis } from '../../support/redis/redis.js';
import { openQueue, startConsumer } from './with-queue.js';

t.test('queued again while it is worked on (after a flush), it is not worked on twice at once', async t => {
  const { redis, client } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const [first, second] = newMessageIds(2) as [MessageId, MessageId];
  const started: MessageId[] = [];
  let release: () => void = () => undefined;
  let wake: () => void = () => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  startConsumer(t, redis.address, async id => {
    started.push(id);
    wake();
    if (id === first) await held;
  });
  const untilStarted = async (count: number): Promise<void> => {
    while (started.length < count) {
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
  };
  await queue.add([first]);
  await untilStarted(1);
  await client.flushall();
  await queue.forgetLost();
  t.match(await queue.add([first]), { added: 1 });
  // It is after the repeated id in the queue: when it is handed out, the repeated one has been handed out.
  await queue.add([second]);
  await untilStarted(2);
  t.same(started, [first, second]);
  release();
});
