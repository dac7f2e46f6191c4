import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Delivery } from '../../src/contract/deliveries.js';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import type { PosternBox } from '../support/box/postern-box.js';
import { endedDeliveries, startDirectBox } from '../support/delivery/direct-box.js';
import { startDnsServer, type Zones } from '../support/dns/dns-server.js';
import { tellRedis } from '../support/redis/box-redis.js';
import type { Receipt } from '../support/sending/sending.js';
import { withFakeSmarthost } from '../support/smarthost/fake-smarthost.js';
import { type Cue, onceThat, say } from '../support/smarthost/smarthost-script.js';

const CLIENTS = 20;
const SENDS_EACH = 20;
const KILLS = 20;
const DOMAINS = 10;
/** Of how many kills one comes after Redis was emptied. */
const FLUSH_EVERY = 4;

t.test('400 messages and a daemon that is killed 20 times: no recipient gets one twice', async t => {
  const server = await withFakeSmarthost(t, {
    rcpt: ({ line }: Cue) => (line.includes('refused') ? say('550 5.1.1 Nobody') : null),
    // A server takes a moment for the content: kills come between the dot and its reply, too.
    dot: () => onceThat(delay(randomInt(30)), say('250 2.0.0 Taken')),
  });
  const dns = await startDnsServer(t, zones());
  const box = await startDirectBox(t, {
    port: server.port,
    dns,
    env: { POSTERN_LIMITS_SENDS: '100000' },
  });
  const agent = await createAgent(box);
  const receipts: Receipt[] = [];
  let isDone = false;
  const clients = Array.from({ length: CLIENTS }, (_, client) => work(box, agent, client, receipts));
  const all = Promise.all(clients).then(() => {
    isDone = true;
  });
  let killedInWork = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await box.untilReady();
    // A random moment is the point: before a mark, behind it, between the dot and its reply.
    await delay(randomInt(400));
    if (kill % FLUSH_EVERY === 0) await tellRedis(box, 'FLUSHALL').catch(() => 'it is not there yet');
    if (!isDone || server.open > 0) killedInWork += 1;
    await box.kill();
    await box.start();
  }
  await all;
  t.equal(receipts.length, CLIENTS * SENDS_EACH);

  const received = new Map<string, number>();
  const states: Record<Delivery['state'], number> = {
    queued: 0,
    sending: 0,
    delivered: 0,
    failed: 0,
    unknown: 0,
    cancelled: 0,
  };
  const wrong: string[] = [];
  const ended = new Map<string, readonly Delivery[]>();
  for (const { message } of receipts) ended.set(message.id, await endedDeliveries(agent, message.id));
  for (const { content, recipients } of server.submissions) {
    const id = /^Message-ID: <([^@]+)@/im.exec(content.toString('latin1'))?.[1] ?? 'none';
    for (const recipient of recipients) {
      const key = `${id} ${recipient}`;
      received.set(key, (received.get(key) ?? 0) + 1);
    }
  }
  for (const [id, deliveries] of ended) {
    for (const { recipient, state } of deliveries) {
      states[state] += 1;
      const times = received.get(`${id} ${recipient}`) ?? 0;
      const isRight = state === 'delivered' ? times === 1 : state === 'unknown' ? times <= 1 : times === 0;
      if (!isRight) wrong.push(`${recipient} of ${id} is ${state} and was sent ${times} times`);
    }
  }
  t.same(wrong, [], 'delivered: once; unknown: once at most; failed: never');
  t.equal(
    Object.values(states).reduce((sum, count) => sum + count, 0),
    recipientsOfAll(),
    'every recipient has a delivery',
  );
  t.same(
    [...received].filter(([, times]) => times > 1),
    [],
    'nobody got a message twice',
  );
  const run = await box.cli('verify');
  t.equal(run.code, 0, `sound: ${run.stderr}`);
  t.ok(killedInWork >= 5, `${killedInWork} kills while mail was under way`);
  t.comment(`${killedInWork} of ${KILLS} kills in the middle; ${JSON.stringify(states)}`);
});

function zones(): Zones {
  const all: Record<string, object> = { 'mx.far.example': { A: ['127.0.0.1'] } };
  for (let at = 0; at < DOMAINS; at++) all[`d${at}.example`] = { MX: [[10, 'mx.far.example']] };
  return all;
}

/** One to three recipients, in two domains where there are three; every fifth message has one that is refused. */
function recipientsOf(client: number, number: number): string[] {
  const name = `c${client}-${number}`;
  const domain = (client + number) % DOMAINS;
  const other = (domain + 1) % DOMAINS;
  const all = [`${name}@d${domain}.example`];
  if (number % 3 === 0) all.push(`${name}-b@d${domain}.example`, `${name}@d${other}.example`);
  if (number % 5 === 0) all.push(`refused-${name}@d${domain}.example`);
  return all;
}

function recipientsOfAll(): number {
  let count = 0;
  for (let client = 0; client < CLIENTS; client++)
    for (let number = 0; number < SENDS_EACH; number++) count += recipientsOf(client, number).length;
  return count;
}

/** Sends its messages one after the other, each with its key until an answer comes. */
async function work(box: PosternBox, agent: TestAgent, client: number, receipts: Receipt[]): Promise<void> {
  for (let number = 0; number < SENDS_EACH; number++) {
    const body = JSON.stringify({
      to: recipientsOf(client, number).map(address => ({ address })),
      subject: 'Notes',
      text: 'x'.repeat(randomInt(1, 20_000)).replace(/x{60}/g, '$&\n'),
      idempotency_key: `client-${client}-${number}`,
    });
    for (;;) {
      await box.untilReady();
      const answer = await agent.api
        .request('POST', `/v1/inboxes/${agent.inboxId}/sent`, {
          body,
          headers: { 'content-type': 'application/json' },
        })
        .catch(() => null);
      if (answer?.status === 201 || answer?.status === 200) {
        receipts.push(answer.json<Receipt>());
        break;
      }
      // Redis is not there yet, or the connection was cut: the same request again.
      await delay(20);
    }
    // So that there is mail under way for all of the kills.
    await delay(randomInt(1_500));
  }
}
