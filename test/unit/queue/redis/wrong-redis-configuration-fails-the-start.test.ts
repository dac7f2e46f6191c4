import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { ManagedRedis } from '../../../../src/queue/redis/managed-redis.js';
import { recordingLog, temporaryFolder } from '../../../support/redis/redis.js';

async function startWith(t: Test, text: string | null): Promise<unknown> {
  const dataDir = temporaryFolder(t);
  const configFile = join(dataDir, 'redis.conf');
  if (text !== null) writeFileSync(configFile, text);
  const redis = new ManagedRedis({ dataDir, log: recordingLog(), configFile });
  t.teardown(() => redis.stop());
  return redis.start();
}

t.test('with what Redis says of it', async t => {
  await t.rejects(startWith(t, 'no-such-directive yes\n'), {
    name: 'RedisConfigurationError',
    message: /no-such-directive/,
  });
});

t.test('a missing file is named', async t => {
  await t.rejects(startWith(t, null), { name: 'RedisConfigurationError', message: /redis\.conf is missing/ });
});
