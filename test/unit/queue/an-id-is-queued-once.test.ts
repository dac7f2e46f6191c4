import t from 'tap';
import { newMessageIds, startRedis } from '../../support/redis.js';
import { openQueue, startConsumer } from './with-queue.js';

t.test('however often it is added, and add tells what was missing', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const ids = newMessageIds(1_200);
  t.same(await queue.add(ids.slice(0, 700)), { missing: 700 });
  t.same(await queue.add(ids), { missing: 500 });
  t.same(await queue.add(ids), { missing: 0 });
  t.same(await queue.add([]), { missing: 0 });
  t.equal(await queue.depth(), 1_200);
});

t.test('a job is its id and nothing else', async t => {
  const { redis, client } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const [id = ''] = newMessageIds(1);
  await queue.add([id as never]);
  t.equal(await client.hget(`postern:parse:${id}`, 'data'), 'null');
});

t.test('and again once its job has ended, well or badly', async t => {
  const { redis } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const [id] = newMessageIds(1);
  let calls = 0;
  let called: () => void = () => undefined;
  startConsumer(t, redis.address, async () => {
    calls++;
    called();
    if (calls === 1) throw new Error('the store is busy');
  });
  for (let round = 1; round <= 3; round++) {
    const next = new Promise<void>(resolve => {
      called = resolve;
    });
    // The job of the round before may be about to be removed.
    while (calls < round && (await queue.add([id!])).missing === 0);
    await next;
    t.equal(calls, round);
  }
});
