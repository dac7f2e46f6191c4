import t from 'tap';
import { startRedis } from '../../../support/redis/redis.js';

t.test('with a word about how it ended, and with what it had on disk', async t => {
  const { redis, client, log, killAndAwaitRestart } = await startRedis(t);
  const first = redis.pid;
  await client.config('SET', 'appendfsync', 'always');
  await client.set('kept', 'yes');
  await killAndAwaitRestart();
  t.not(redis.pid, first);
  t.equal(await client.get('kept'), 'yes');
  t.match(log.matching(/ended unexpectedly/), [{ level: 'warn', fields: { signal: 'SIGKILL' } }]);
});

t.test('as often as it takes', async t => {
  const { redis, client, killAndAwaitRestart } = await startRedis(t);
  for (let time = 0; time < 3; time++) await killAndAwaitRestart();
  t.equal(await client.ping(), 'PONG');
  t.ok(redis.pid);
});
