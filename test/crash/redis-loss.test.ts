import { once } from 'node:events';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { freezeRedis, killRedis, tellRedis } from '../support/redis/box-redis.js';
import { freePort, runRedis } from '../support/redis/own-redis.js';
import { checkBook } from '../support/smtp/check-book.js';
import { deliver } from '../support/smtp/deliver.js';
import { Senders } from '../support/smtp/senders.js';

const ROUNDS = 3;

t.test('mail survives a Redis that is killed and flushed under load', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const senders = new Senders(box, { count: 8, addresses: [agent.address], letterBytes: () => 20_000 });
  senders.start();
  for (let round = 0; round < ROUNDS; round++) {
    await senders.more(50);
    t.equal(await tellRedis(box, 'FLUSHALL'), '+OK');
    await senders.more(50);
    await killRedis(box);
  }
  await senders.finish();
  const { acknowledged, stored, unknown } = await checkBook(t, box, agent, senders.book);
  t.comment(
    `${ROUNDS} flushes, ${ROUNDS} kills of Redis, ${acknowledged} messages acknowledged, ${stored} found`,
  );
  t.same([[...senders.refusals], unknown], [[], 0], 'no sender noticed anything');
});

t.test('mail that waits to be parsed survives a flush that nobody notices', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  // Larger messages are accepted faster than they are parsed, so that there is a backlog to lose.
  const senders = new Senders(box, { count: 8, addresses: [agent.address], letterBytes: () => 500_000 });
  senders.start();
  await senders.more(60);
  await senders.finish();
  t.equal(await tellRedis(box, 'FLUSHALL'), '+OK');
  await checkBook(t, box, agent, senders.book);
});

t.test('a frozen Redis and one whose keys were overwritten cost no mail', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const senders = new Senders(box, { count: 4, addresses: [agent.address], letterBytes: () => 5_000 });
  senders.start();
  await senders.more(20);
  const overwritten = box.hear(/keys of the queue in Redis are damaged/);
  const all = "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('SET', key, 'x') end";
  t.equal(await tellRedis(box, `EVAL "${all} return redis.status_reply('done')" 0`), '+done');
  await senders.more(20);
  await overwritten;
  const frozenAtMs = performance.now();
  const replaced = freezeRedis(box);
  await senders.more(50);
  await senders.finish();
  await replaced;
  t.comment(`replaced after ${((performance.now() - frozenAtMs) / 1000).toFixed(1)} s`);
  const { unknown } = await checkBook(t, box, agent, senders.book);
  t.same([[...senders.refusals], unknown], [[], 0], 'no sender noticed anything');
});

t.test('mail is accepted and read while there is no Redis at all', async t => {
  const port = await freePort();
  const box = await startBox(t, {
    env: { POSTERN_REDIS_MODE: 'external', POSTERN_REDIS_URL: `redis://127.0.0.1:${port}` },
  });
  const agent = await createAgent(box);
  const sent = new Map<string, Buffer>();
  const send = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const { raw } = writeLetter({ bytes: 10_000 });
      sent.set(await deliver(box, agent.address, raw), raw);
    }
  };
  const checkAllReady = async () => {
    for (const [id, raw] of sent) {
      t.equal((await agent.api.finished(id)).processing_status, 'ready');
      t.ok((await agent.api.raw(id)).equals(raw));
    }
  };

  await send(20);
  for (const id of sent.keys()) t.equal((await agent.api.detail(id)).processing_status, 'pending');
  t.equal(await agent.api.count(agent.inboxId), 20, 'it is counted and listed meanwhile');
  t.equal((await box.api().get('/readyz')).status, 503);
  t.equal((await box.api().get('/healthz')).status, 200);

  const redis = await runRedis(t, port);
  await checkAllReady();
  t.equal((await box.api().get('/readyz')).status, 200);

  redis.kill('SIGKILL');
  await once(redis, 'exit');
  await send(20);
  await box.restart();
  await send(5);
  await runRedis(t, port);
  await checkAllReady();
  t.same((await untilFacts(box, isAtRest)).faults, []);
});
