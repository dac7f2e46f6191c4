import t from 'tap';
import { ManagedRedis } from '../../../../src/queue/redis/managed-redis.js';
import { recordingLog, temporaryFolder } from '../../../support/redis/redis.js';

t.test('start fails with the package to install and the setting that does without', async t => {
  const redis = new ManagedRedis({
    dataDir: temporaryFolder(t),
    log: recordingLog(),
    path: temporaryFolder(t),
  });
  t.teardown(() => redis.stop());
  await t.rejects(redis.start(), {
    name: 'RedisConfigurationError',
    message: /apt-get install redis-server.*redis\.mode = "external"/,
  });
});
