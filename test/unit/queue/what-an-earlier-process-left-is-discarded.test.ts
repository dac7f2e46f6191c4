import t from 'tap';
import { newMessageIds, PendingList, startRedis } from '../../support/redis/redis.js';
import { jobsIn, openQueue, startConsumer } from './with-queue.js';

t.test('a job that nobody has taken does not block its id', async t => {
  const { redis, client } = await startRedis(t);
  const queue = await openQueue(t, redis.address);
  const [id] = newMessageIds(1);
  await queue.add([id!]);
  t.same(await jobsIn(client), [[id]]);

  // The next process.
  const pending = new PendingList();
  const next = await openQueue(t, redis.address);
  t.same(await jobsIn(client), []);
  t.match(await next.add([id!]), { added: 1 });
  const handled = new Promise<void>(resolve => {
    startConsumer(t, redis.address, async of => {
      await pending.done(of);
      resolve();
    });
  });
  await handled;
  t.equal(pending.timesHandled(id!), 1);
});

t.test('jobs of others on the same Redis stay', async t => {
  const { redis, client } = await startRedis(t);
  await client.set('theirs:parse:meta', 'x');
  await openQueue(t, redis.address);
  t.equal(await client.get('theirs:parse:meta'), 'x');
});
