import { once } from 'node:events';
import t from 'tap';
import { readProcess } from '../../../../src/queue/redis/redis-process.js';
import { connectTo, startRedis, temporaryFolder } from '../../../support/redis/redis.js';
import { pathWithoutSetpriv, spawnRedisDaemon } from './with-redis-daemon.js';

t.test('so that two never share one append-only file', async t => {
  const dataDir = temporaryFolder(t);
  const daemon = await spawnRedisDaemon(t, dataDir, pathWithoutSetpriv(t));
  const ended = once(daemon.child, 'exit');
  daemon.child.kill('SIGKILL');
  await ended;
  t.ok(readProcess(daemon.pid), 'the orphan lives');
  const closed = once(await connectTo(daemon.socketPath), 'close');
  const { redis, log, client } = await startRedis(t, { dataDir });
  await closed;
  t.not(redis.pid, daemon.pid);
  t.equal(await client.ping(), 'PONG');
  t.match(log.matching(/left behind/), [{ fields: { pid: daemon.pid } }]);
});

t.test('one that hangs is ended, too', async t => {
  const dataDir = temporaryFolder(t);
  const daemon = await spawnRedisDaemon(t, dataDir, pathWithoutSetpriv(t));
  const ended = once(daemon.child, 'exit');
  daemon.child.kill('SIGKILL');
  await ended;
  process.kill(daemon.pid, 'SIGSTOP');
  const { redis, client } = await startRedis(t, { dataDir, stopTimeoutMs: 200 });
  t.not(redis.pid, daemon.pid);
  t.equal(await client.ping(), 'PONG');
});
