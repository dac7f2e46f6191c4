import { once } from 'node:events';
import t from 'tap';
import { createAgent } from '../support/agents.js';
import { freePort, runRedis } from '../support/own-redis.js';
import { postSend, quota, type Receipt, type SentMessage, send, submission } from '../support/sending.js';
import { startSmarthostBox } from '../support/smarthost-box.js';

t.test('Redis goes away right behind the reservation: unknown now, sent once when it is back', async t => {
  const port = await freePort();
  const redis = await runRedis(t, port);
  const { box, smarthost } = await startSmarthostBox(t, {
    POSTERN_REDIS_MODE: 'external',
    POSTERN_REDIS_URL: `redis://127.0.0.1:${port}`,
    POSTERN_RELAY_RESPONSE_TIMEOUT_S: '1',
  });
  const agent = await createAgent(box);
  t.match(await send(agent, submission('ann@remote.example')), { message: { status: 'accepted' } });

  // It keeps its connections and answers nothing: nobody can know yet that the offer is lost.
  redis.kill('SIGSTOP');
  const body = submission('ann@remote.example', { idempotency_key: 'k', html: '<p>Hello</p>' });
  const answer = await postSend(agent, body);
  t.equal(answer.status, 201);
  const { message, outcome_persisted } = answer.json<Receipt>();
  t.match(message, { status: 'unknown', error_code: null });
  t.equal(outcome_persisted, true);
  t.match(await quota(agent.api), { used: 2 });
  t.match(await box.cliJson<object>('queue', 'status'), { relay: { waiting: 1, started: 0 } });
  t.match(await send(agent, body), { replayed: true, message: { id: message.id, status: 'unknown' } });
  t.equal(smarthost.submissions.length, 1);

  const gone = once(redis, 'exit');
  redis.kill('SIGKILL');
  await gone;
  await runRedis(t, port);
  await smarthost.until(() => smarthost.submissions.length === 2);
  const stateOf = async () => (await agent.api.get(`/v1/sent/${message.id}`)).json<SentMessage>();
  while ((await stateOf()).status !== 'accepted') await new Promise(resolve => setTimeout(resolve, 20));
  t.match(await send(agent, body), { replayed: true, message: { id: message.id, status: 'accepted' } });
  t.match(await send(agent, submission('ann@remote.example')), { message: { status: 'accepted' } });
  t.equal(smarthost.submissions.length, 3, 'each once');
  t.equal((await box.cli('verify')).code, 0, 'the store is sound');
});
