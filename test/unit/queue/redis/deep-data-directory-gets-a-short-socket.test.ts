import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { startRedis, temporaryFolder } from '../../../support/redis/redis.js';

t.test('in a private folder that goes with it', async t => {
  const dataDir = join(temporaryFolder(t), 'a-folder-with-a-long-name/'.repeat(6));
  const { redis, client } = await startRedis(t, { dataDir });
  t.ok(Buffer.byteLength(redis.socketPath) <= 107);
  t.equal(statSync(dirname(redis.socketPath)).mode & 0o777, 0o700);
  t.match(await client.config('GET', 'dir'), [/^dir$/, /a-folder-with-a-long-name\/redis$/]);
  client.disconnect();
  await redis.stop();
  t.notOk(existsSync(dirname(redis.socketPath)));
});
