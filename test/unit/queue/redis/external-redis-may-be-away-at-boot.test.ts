import t from 'tap';
import { checkExternalRedis } from '../../../../src/queue/redis/external-redis.js';
import { recordingLog, startRedis } from '../../../support/redis/redis.js';

t.test('a warning, without the password', async t => {
  const log = recordingLog();
  await checkExternalRedis('redis://user:hunter2@127.0.0.1:1/0', log);
  t.match(log.lines, [{ level: 'warn', message: /redis:\/\/127\.0\.0\.1:1\/0 does not answer/ }]);
  t.notMatch(JSON.stringify(log.lines), /hunter2/);
});

t.test('but one that refuses our password is an error', async t => {
  const { redis, client } = await startRedis(t);
  await client.acl('SETUSER', 'default', 'resetpass', '>right');
  await t.rejects(checkExternalRedis(`unix://${redis.socketPath}`, recordingLog()), {
    message: /refuses us/,
  });
});

t.test('and so is what is no URL of a Redis', async t => {
  for (const url of ['', 'localhost', 'http://localhost']) {
    await t.rejects(checkExternalRedis(url, recordingLog()), { message: /redis\.url must be a URL/ });
  }
});
