import { randomInt } from 'node:crypto';
import t from 'tap';
import type { AccountEvent } from '../../src/contract/events.js';
import { createAgent } from '../support/box/agents.js';
import { killRepeatedly } from '../support/box/kills.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { killRedis, tellRedis } from '../support/redis/box-redis.js';
import { Senders } from '../support/smtp/senders.js';
import { createWebhook, startHookBox } from '../support/webhooks/hook-box.js';
import { startReceiver } from '../support/webhooks/receiver.js';

const KILLS = 6;

t.test('no event is lost to an endpoint, whatever is killed, and its ids stay', async t => {
  const box = await startHookBox(t);
  const agent = await createAgent(box);
  const good = await startReceiver(t);
  const bad = await startReceiver(t);
  // Every fifth event fails the first time, or is cut off.
  const failed = new Set<string>();
  bad.answers(({ json }) => {
    if (json.sequence % 5 !== 0 || failed.has(json.id)) return 204;
    failed.add(json.id);
    return json.sequence % 2 === 0 ? 500 : 'cut';
  });
  await createWebhook(agent, good.url);
  await createWebhook(agent, bad.url);
  const senders = new Senders(box, {
    count: 2,
    addresses: [agent.address],
    letterBytes: () => randomInt(500, 5_000),
  });
  senders.start();
  await killRepeatedly(t, box, {
    kills: KILLS,
    withinMs: 150,
    work: async () => senders.more(randomInt(5, 30)),
  });
  await senders.finish();
  await untilFacts(box, isAtRest);
  const told = await everyEvent(agent.api);
  // The inbox was there before the webhooks.
  const expected = told.slice(1).map(({ id }) => id);
  for (const receiver of [good, bad]) {
    const ids = () => new Set(receiver.taken.map(({ json }) => json.id as string));
    await receiver.until(() => ids().size >= expected.length);
    t.strictSame([...ids()].sort(), [...expected].sort());
    for (const { json, headers } of receiver.received) t.equal(headers['webhook-id'], json.id);
  }
  const again = good.taken.length - expected.length;
  t.ok(again <= 8 * 3 * KILLS, 'what was under way is told again, and not much else');
  t.comment(`${KILLS} kills, ${expected.length} events, ${again} told twice`);
});

t.test('a Redis that is killed and flushed costs an endpoint no event', async t => {
  const box = await startHookBox(t);
  const agent = await createAgent(box);
  const receiver = await startReceiver(t);
  await createWebhook(agent, receiver.url);
  const senders = new Senders(box, { count: 2, addresses: [agent.address], letterBytes: () => 2_000 });
  senders.start();
  for (let round = 0; round < 3; round++) {
    await senders.more(15);
    t.equal(await tellRedis(box, 'FLUSHALL'), '+OK');
    await senders.more(15);
    await killRedis(box);
  }
  await senders.finish();
  await untilFacts(box, isAtRest);
  const expected = (await everyEvent(agent.api)).slice(1).map(({ id }) => id);
  await receiver.until(({ taken }) => taken.length >= expected.length);
  t.strictSame(receiver.taken.map(({ json }) => json.id).sort(), expected.sort(), 'each once');
});

async function everyEvent(api: {
  get(path: string): Promise<{ json<T>(): T }>;
}): Promise<readonly AccountEvent[]> {
  const events: AccountEvent[] = [];
  for (let after = ''; ; ) {
    const page = (await api.get(`/v1/events?limit=100${after}`)).json<{
      events: AccountEvent[];
      next_cursor: string;
    }>();
    events.push(...page.events);
    if (page.events.length === 0) return events;
    after = `&after=${page.next_cursor}`;
  }
}
