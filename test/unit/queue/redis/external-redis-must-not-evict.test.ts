import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { checkExternalRedis } from '../../../../src/queue/redis/external-redis.js';
import { recordingLog, startRedis, temporaryFolder } from '../../../support/redis/redis.js';

async function redisWith(t: Test, settings: string): Promise<string> {
  const configFile = join(temporaryFolder(t), 'redis.conf');
  writeFileSync(configFile, `port 0\nsave ""\n${settings}\n`);
  const { redis } = await startRedis(t, { configFile });
  return `unix://${redis.socketPath}`;
}

t.test('another policy than noeviction is refused, with the reason', async t => {
  const url = await redisWith(t, 'maxmemory-policy allkeys-lru');
  await t.rejects(checkExternalRedis(url, recordingLog()), {
    name: 'RedisConfigurationError',
    message: /allkeys-lru.*set it to "noeviction"/,
  });
});

t.test('noeviction is welcome', async t => {
  const url = await redisWith(t, 'maxmemory-policy noeviction');
  const log = recordingLog();
  await checkExternalRedis(url, log);
  t.same(log.lines, []);
});

t.test('where CONFIG is forbidden, INFO tells', async t => {
  const forbidden = 'rename-command CONFIG ""';
  const evicting = await redisWith(t, `maxmemory-policy volatile-lru\n${forbidden}`);
  await t.rejects(checkExternalRedis(evicting, recordingLog()), { message: /volatile-lru/ });
  const sound = await redisWith(t, `maxmemory-policy noeviction\n${forbidden}`);
  await checkExternalRedis(sound, recordingLog());
});

t.test('where nothing tells, a warning is enough', async t => {
  const url = await redisWith(t, 'rename-command CONFIG ""\nrename-command INFO ""');
  const log = recordingLog();
  await checkExternalRedis(url, log);
  t.match(log.lines, [{ level: 'warn', message: /make sure that it is noeviction/ }]);
});
