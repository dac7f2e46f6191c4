import { Redis } from 'ioredis';
import t from 'tap';
import { ManagedRedis } from '../../../../src/queue/redis/managed-redis.js';
import { recordingLog, startRedis, temporaryFolder } from '../../../support/redis/redis.js';
import { spawnRedisDaemon } from './with-redis-daemon.js';

t.test('a second daemon on the data directory is refused, and the first goes on', async t => {
  const dataDir = temporaryFolder(t);
  const daemon = await spawnRedisDaemon(t, dataDir, process.env.PATH ?? '');
  const second = new ManagedRedis({ dataDir, log: recordingLog() });
  await t.rejects(second.start(), {
    name: 'RedisInUseError',
    message: new RegExp(`process ${daemon.child.pid} `),
  });
  await second.stop();
  const client = new Redis({ path: daemon.socketPath });
  t.teardown(() => client.disconnect());
  t.equal(await client.ping(), 'PONG');
});

t.test('nor is one of another data directory touched', async t => {
  const one = await startRedis(t);
  const other = await startRedis(t);
  t.same([await one.client.ping(), await other.client.ping()], ['PONG', 'PONG']);
});
