import { once } from 'node:events';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { freePort, runRedis } from '../../support/redis/own-redis.js';
import {
  postSend,
  quota,
  type Receipt,
  type SentMessage,
  send,
  submission,
} from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { onceThat, say } from '../../support/smarthost/smarthost-script.js';

t.test('Redis goes away right behind the reservation: unknown now, sent once when it is back', async t => {
  const port = await freePort();
  const redis = await runRedis(t, port);
  const { box, smarthost } = await startSmarthostBox(t, {
    POSTERN_REDIS_MODE: 'external',
    POSTERN_REDIS_URL: `redis://127.0.0.1:${port}`,
    POSTERN_RELAY_RESPONSE_TIMEOUT_S: '1',
    POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: '1',
  });
  const agent = await createAgent(box);
  t.match(await send(agent, submission('ann@remote.example')), { message: { status: 'accepted' } });

  // Two are all that the relay has in hand with one connection: what comes then has to wait in the queue.
  let letGo = () => {};
  const freed = new Promise<void>(resolve => {
    letGo = resolve;
  });
  smarthost.script = { dot: onceThat(freed, say('250 2.0.0 OK')) };
  const busy = [send(agent, submission('bob@remote.example')), send(agent, submission('eve@remote.example'))];
  for (const { message } of await Promise.all(busy))
    t.match(message, { status: 'unknown', error_code: null });

  // It keeps its connections and answers nothing: nobody can know yet that the offer is lost.
  redis.kill('SIGSTOP');
  const body = submission('ann@remote.example', { idempotency_key: 'k', html: '<p>Hello</p>' });
  const answer = await postSend(agent, body);
  t.equal(answer.status, 201);
  const { message, outcome_persisted } = answer.json<Receipt>();
  t.match(message, { status: 'unknown', error_code: null });
  t.equal(outcome_persisted, true);
  t.match(await quota(agent.api), { used: 4 });
  t.match(await box.cliJson<object>('queue', 'status'), { relay: { waiting: 1, started: 2 } });
  t.match(await send(agent, body), { replayed: true, message: { id: message.id, status: 'unknown' } });
  letGo();
  await smarthost.until(() => smarthost.submissions.length === 3);

  const gone = once(redis, 'exit');
  redis.kill('SIGKILL');
  await gone;
  await runRedis(t, port);
  await smarthost.until(() => smarthost.submissions.length === 4);
  const stateOf = async () => (await agent.api.get(`/v1/sent/${message.id}`)).json<SentMessage>();
  while ((await stateOf()).status !== 'accepted') await new Promise(resolve => setTimeout(resolve, 20));
  t.match(await send(agent, body), { replayed: true, message: { id: message.id, status: 'accepted' } });
  t.match(await send(agent, submission('ann@remote.example')), { message: { status: 'accepted' } });
  t.equal(smarthost.submissions.length, 5, 'each once');
  t.match(await box.cliJson('verify'), { sound: true }, 'the store is sound');
});
