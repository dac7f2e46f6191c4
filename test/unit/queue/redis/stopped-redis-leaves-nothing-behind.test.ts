import { once } from 'node:events';
import { existsSync } from 'node:fs';
import t from 'tap';
import { ManagedRedis } from '../../../../src/queue/redis/managed-redis.js';
import { readProcess } from '../../../../src/queue/redis/redis-process.js';
import { connectTo, startRedis } from '../../../support/redis/redis.js';

t.test('neither process nor socket, and it is not started again', async t => {
  const { redis, client, log } = await startRedis(t);
  const pid = redis.pid!;
  const closed = once(await connectTo(redis.socketPath), 'close');
  client.disconnect();
  await redis.stop();
  await closed;
  t.equal(readProcess(pid), null);
  t.notOk(existsSync(redis.socketPath));
  t.same(log.matching(/unexpected|again/), []);
});

t.test('stopped while it starts', async t => {
  const { dataDir, redis: first, log } = await startRedis(t);
  await first.stop();
  const second = new ManagedRedis({ dataDir, log });
  const starting = second.start();
  await second.stop();
  t.equal(await starting, 'retrying');
  t.equal(second.pid, undefined);
});
