import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { startRedis } from '../../../support/redis/redis.js';

t.test('the socket and its folder are open to our user alone, and there is no TCP port', async t => {
  const { redis, client } = await startRedis(t);
  t.equal(statSync(redis.socketPath).mode & 0o777, 0o700);
  t.equal(statSync(dirname(redis.socketPath)).mode & 0o777, 0o700);
  t.same(await client.config('GET', 'port'), ['port', '0']);
  t.same(await client.config('GET', 'maxmemory-policy'), ['maxmemory-policy', 'noeviction']);
});
