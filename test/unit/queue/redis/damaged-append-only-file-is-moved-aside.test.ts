import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { ManagedRedis } from '../../../../src/queue/redis/managed-redis.js';
import { startRedis, temporaryFolder } from '../../../support/redis/redis.js';

/** Prepares a folder with files of Redis that Redis cannot read. */
async function leaveDamage(t: Test, spoil: (folder: string) => void): Promise<string> {
  const dataDir = temporaryFolder(t);
  const { redis, client, log } = await startRedis(t, { dataDir });
  await client.set('some', 'thing');
  client.disconnect();
  await redis.stop();
  t.same(log.matching(/damaged/), []);
  spoil(join(dataDir, 'redis', 'appendonlydir'));
  return dataDir;
}

async function startsEmpty(t: Test, dataDir: string): Promise<void> {
  const { client, log } = await startRedis(t, { dataDir });
  t.equal(await client.dbsize(), 0);
  t.match(log.matching(/moved to redis\/damaged/), [{ level: 'warn' }]);
  t.ok(existsSync(join(dataDir, 'redis', 'damaged', 'appendonlydir')));
}

t.test('a log with rubbish in it', async t => {
  const dataDir = await leaveDamage(t, folder => {
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.incr.aof')) writeFileSync(join(folder, name), '*2\r\n$rubbish\r\n'.repeat(100));
    }
  });
  await startsEmpty(t, dataDir);
});

t.test('a base file with rubbish in it', async t => {
  const dataDir = await leaveDamage(t, folder => {
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.base.rdb')) {
        writeFileSync(join(folder, name), 'REDIS0010 and then nothing of sense');
      }
    }
  });
  await startsEmpty(t, dataDir);
});

t.test('a manifest with rubbish in it', async t => {
  const dataDir = await leaveDamage(t, folder => {
    writeFileSync(join(folder, 'appendonly.aof.manifest'), 'rubbish\n');
  });
  await startsEmpty(t, dataDir);
});

t.test('damage that is found when Redis is started again', async t => {
  const { redis, dataDir, client, log, killAndAwaitRestart } = await startRedis(t);
  writeFileSync(join(dataDir, 'redis', 'appendonlydir', 'appendonly.aof.manifest'), 'rubbish\n');
  await killAndAwaitRestart();
  t.equal(await client.dbsize(), 0);
  t.equal(log.matching(/moved to redis\/damaged/).length, 1);
  t.type(redis, ManagedRedis);
});
