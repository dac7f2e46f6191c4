import t from 'tap';
import { startRedis } from '../../../support/redis/redis.js';

t.test('a Redis that answers nothing is killed and started again', async t => {
  const { redis, client, log } = await startRedis(t, { frozenTimeoutMs: 1_000 });
  const frozen = redis.pid!;
  const back = log.hear(/runs again/);
  process.kill(frozen, 'SIGSTOP');
  await back;
  t.not(redis.pid, frozen);
  t.throws(() => process.kill(frozen, 0), { code: 'ESRCH' }, 'the frozen one is gone');
  t.equal(await client.ping(), 'PONG');
  t.match(log.matching(/does not answer/), [{ level: 'error', fields: { pid: frozen } }]);
});

t.test('one that pauses for less goes on', async t => {
  const { redis, client, log } = await startRedis(t, { frozenTimeoutMs: 1_000 });
  const first = redis.pid!;
  for (let pause = 0; pause < 3; pause++) {
    process.kill(first, 'SIGSTOP');
    await new Promise(resolve => setTimeout(resolve, 400));
    process.kill(first, 'SIGCONT');
    t.equal(await client.ping(), 'PONG');
  }
  t.equal(redis.pid, first);
  t.same(log.matching(/does not answer/), []);
});
