import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { freePort, runRedis } from '../../support/redis/own-redis.js';
import { postSend, quota, type Receipt, send, submission } from '../../support/sending/sending.js';

t.test(
  'while the queue cannot take a message nothing is reserved, and nothing else is kept from working',
  async t => {
    const port = await freePort();
    const box = await startBox(t, {
      env: {
        POSTERN_REDIS_MODE: 'external',
        POSTERN_REDIS_URL: `redis://127.0.0.1:${port}`,
        POSTERN_RELAY_RESPONSE_TIMEOUT_S: '1',
      },
    });
    const agent = await createAgent(box);
    const body = submission(agent.address, { idempotency_key: 'later' });
    const refused = await postSend(agent, body);
    t.equal(refused.status, 503);
    t.equal(refused.code, 'outbound_unavailable');
    t.match(await quota(agent.api), { used: 0 });
    t.same((await agent.api.get(`/v1/inboxes/${agent.inboxId}/sent`)).json<{ messages: [] }>().messages, []);

    const redis = await runRedis(t, port);
    let answer = await postSend(agent, body);
    while (answer.status === 503) {
      await new Promise(resolve => setTimeout(resolve, 100));
      answer = await postSend(agent, body);
    }
    t.match(
      answer.json<Receipt>(),
      { replayed: false, message: { status: 'accepted' } },
      'the key was unused',
    );

    redis.kill('SIGKILL');
    let gone = await postSend(agent, submission(agent.address));
    while (gone.status === 201) gone = await postSend(agent, submission(agent.address));
    t.equal(gone.code, 'outbound_unavailable');
    t.match(await send(agent, body), { replayed: true }, 'what was sent is told of, Redis or not');
  },
);
