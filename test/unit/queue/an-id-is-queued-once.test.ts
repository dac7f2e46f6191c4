import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import { newMessageIds, startRedis } from '../../support/redis/redis.js';
import { inOneLane, jobsIn, openQueue, startConsumer } from './with-queue.js';

t.test('however often it is added or offered, and add tells what was missing', async t => {
  const { redis, client } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const ids = newMessageIds(1_200);
  t.match(await queue.add(ids.slice(0, 700)), { added: 700, isFull: false });
  t.match(await queue.add(ids), { added: 500, isFull: false });
  t.match(await queue.add(ids), { added: 0, isFull: false });
  t.match(await queue.add([]), { added: 0, isFull: false });
  queue.offer(inOneLane(ids));
  await queue.forgetLost();
  t.same((await jobsIn(client)).flat().sort(), ids);
  t.equal(queue.size, 1_200);
  t.equal(queue.dropped, 0);
});

t.test('and again once it has been worked on, well or badly', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const [id] = newMessageIds(1);
  let calls = 0;
  let end: () => void = () => undefined;
  const handler = async (): Promise<void> => {
    if (++calls === 1) throw new Error('the store is busy');
  };
  const onDone = (of: MessageId): void => {
    queue.done(of);
    end();
  };
  startConsumer(t, redis.address, handler, { onDone });
  for (let round = 1; round <= 3; round++) {
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    t.match(await queue.add([id!]), { added: 1 });
    await ended;
    t.equal(calls, round);
    t.equal(queue.size, 0);
  }
});
