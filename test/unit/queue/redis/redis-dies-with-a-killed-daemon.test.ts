import { once } from 'node:events';
import t from 'tap';
import { findExecutable } from '../../../../src/queue/redis/redis-process.js';
import { connectTo, temporaryFolder } from '../../../support/redis/redis.js';
import { spawnRedisDaemon } from './with-redis-daemon.js';

const skip = findExecutable('setpriv') === null ? 'setpriv is not installed' : false;

t.test('the kernel ends Redis when the daemon gets SIGKILL', { skip }, async t => {
  const daemon = await spawnRedisDaemon(t, temporaryFolder(t), process.env.PATH ?? '');
  const closed = once(await connectTo(daemon.socketPath), 'close');
  daemon.child.kill('SIGKILL');
  await closed;
  t.pass('Redis is gone');
});
