import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import { newMessageIds, startRedis } from '../../support/redis/redis.js';
import { inOneLane, jobsIn, openQueue, startConsumer } from './with-queue.js';

t.test('a job is up to 64 ids and nothing else', async t => {
  const { redis, client } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const ids = newMessageIds(150);
  for (const id of ids) queue.offer(inOneLane([id]));
  // Sent after the offers on the same connection: when this one has arrived, so have they.
  await queue.add(newMessageIds(1));
  await queue.forgetLost();
  const jobs = await jobsIn(client);
  const offered = jobs.filter(job => job.length > 1);
  t.same(offered.map(job => job.length).sort(), [22, 64, 64]);
  t.same(offered.flat().sort(), ids);
});

t.test('a job ends when its ids are taken over, and one that is slow holds no other up', async t => {
  const { redis, client } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const [slow, ...others] = newMessageIds(130) as [MessageId, ...MessageId[]];
  let release: () => void = () => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const done = new Set<MessageId>();
  const allDone = (count: number): Promise<void> =>
    new Promise(resolve => {
      wake = () => done.size >= count && resolve();
      wake();
    });
  let wake: () => void = () => undefined;
  const handler = async (id: MessageId): Promise<void> => {
    if (id === slow) await held;
  };
  const onDone = (id: MessageId): void => {
    queue.done(id);
    done.add(id);
    wake();
  };
  const onTaken = (job: string): void => queue.taken(job);
  const consumer = startConsumer(t, redis.address, handler, { onDone, onTaken });
  await queue.add([slow, ...others]);
  await allDone(others.length);
  t.notOk(done.has(slow));
  t.equal(queue.size, 1);
  t.match(await queue.add([slow]), { added: 0 }, 'it counts as queued still');
  await client.flushall();
  await queue.forgetLost();
  t.equal(queue.size, 1, 'whatever becomes of Redis');
  release();
  await allDone(others.length + 1);
  await consumer.close();
  t.same(await jobsIn(client), []);
});

t.test('no more ids are worked on at once than there are slots', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  let inFlight = 0;
  let most = 0;
  let finished: () => void = () => undefined;
  const allFinished = new Promise<void>(resolve => {
    finished = resolve;
  });
  let left = 200;
  startConsumer(t, redis.address, async () => {
    most = Math.max(most, ++inFlight);
    await new Promise(resolve => setImmediate(resolve));
    inFlight--;
    if (--left === 0) finished();
  });
  await queue.add(newMessageIds(200));
  await allFinished;
  t.equal(most, 16);
});
