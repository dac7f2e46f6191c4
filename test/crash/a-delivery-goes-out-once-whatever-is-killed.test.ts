import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Delivery } from '../../src/contract/deliveries.js';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import type { PosternBox } from '../support/box/postern-box.js';
import { endedDeliveries, startDirectBox } from '../support/delivery/direct-box.js';
import { startDnsServer, type Zones } from '../support/dns/dns-server.js';
import { killRedis, tellRedis } from '../support/redis/box-redis.js';
import type { Receipt } from '../support/sending/sending.js';
import { withFakeSmarthost } from '../support/smarthost/fake-smarthost.js';
import { type Cue, onceThat, say } from '../support/smarthost/smarthost-script.js';

const CLIENTS = 20;
const SENDS_EACH = 15;
const KILLS = 20;
const DOMAINS = 10;
/** Of how many kills one comes after Redis was emptied. */
const FLUSH_EVERY = 4;
/** More than go to one domain at once. */
const WAITING = 60;

t.test('300 messages and a daemon that is killed 20 times: no recipient gets one twice', async t => {
  const server = await withFakeSmarthost(t, {
    rcpt: ({ line }: Cue) => (line.includes('refused') ? say('550 5.1.1 Nobody') : null),
    // A server takes a moment for the content: kills come between the dot and its reply, too.
    dot: () => onceThat(delay(randomInt(100)), say('250 2.0.0 Taken')),
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
  let killedAfterDot = 0;
  let flushes = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await box.untilReady();
    // A random moment is the point: before a mark, behind it, between the dot and its reply. A start takes long beside
    // all of these, so that every other kill waits for a dot.
    const dots = server.submissions.length;
    if (kill % 2 === 0) await delay(randomInt(400));
    else await Promise.race([all, server.until(() => server.submissions.length > dots + randomInt(10))]);
    // What Redis keeps when it is ended is empty then, so that the next start finds nothing in it.
    const isFlushed = kill % FLUSH_EVERY === 0 && (await tellRedis(box, 'FLUSHALL').catch(() => 'not there'));
    if (isFlushed === '+OK') flushes += 1;
    if (!isDone || server.open > 0) killedInWork += 1;
    if (server.submissions.length > dots) killedAfterDot += 1;
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
  const asked = new Set(server.sessions.flatMap(({ lines }) => lines.map(recipientIn)));
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
      // Nor may it be careful with everything: a fault is that of a server, and in doubt is only what was under way.
      const isFounded =
        state === 'delivered' ||
        (state === 'failed' && recipient.startsWith('refused-')) ||
        (state === 'unknown' && asked.has(recipient));
      if (!isRight || !isFounded) wrong.push(`${recipient} of ${id} is ${state} and was sent ${times} times`);
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
  t.ok(flushes >= 2, `Redis was emptied before ${flushes} starts`);
  t.ok(killedAfterDot >= KILLS / 4, `${killedAfterDot} kills while dots were answered`);
  t.ok(states.unknown > 0, 'some ended between a dot and its reply');
  t.ok(states.delivered > states.unknown, 'most of it is not in doubt');
  t.comment(
    `${killedInWork} of ${KILLS} kills in the middle, ${killedAfterDot} after dots; ${JSON.stringify(states)}`,
  );
});

t.test('a daemon whose Redis is emptied or killed under it delivers what waits, once', async t => {
  const gate = new Gate();
  const server = await withFakeSmarthost(t, { dot: () => onceThat(gate.opened, say('250 2.0.0 Taken')) });
  const dns = await startDnsServer(t, zones());
  const box = await startDirectBox(t, {
    port: server.port,
    dns,
    env: { POSTERN_LIMITS_SENDS: '100000' },
  });
  const agent = await createAgent(box);
  const losses: Record<string, () => Promise<unknown>> = {
    flushed: () => tellRedis(box, 'FLUSHALL'),
    killed: () => killRedis(box),
    'flushed again': () => tellRedis(box, 'FLUSHALL'),
    'killed again': () => killRedis(box),
  };
  for (const [name, lose] of Object.entries(losses)) {
    gate.shut();
    const before = server.submissions.length;
    const addresses = Array.from({ length: WAITING }, (_, at) => `w${before + at}@d0.example`);
    const sent = await Promise.all(addresses.map(address => send(agent, address)));
    // The server answers no dot yet: some are under way, and the others wait for their turn.
    await server.until(() => server.submissions.length > before);
    await lose();
    const under = server.submissions.length - before;
    t.ok(under < WAITING, `${name}: ${under} under way, ${WAITING - under} wait`);
    gate.open();
    const states = new Set<string>();
    for (const { message } of sent) {
      for (const { state } of await endedDeliveries(agent, message.id)) states.add(state);
    }
    t.same([...states], ['delivered'], `${name}: all of them end`);
    const got = server.submissions.slice(before).flatMap(({ recipients }) => recipients);
    t.same(got.toSorted(), addresses.toSorted(), `${name}: each of them once`);
  }
});

/** Answers wait here until it opens. */
class Gate {
  opened: Promise<void> = Promise.resolve();
  open: () => void = () => {};

  shut(): void {
    this.opened = new Promise(resolve => {
      this.open = resolve;
    });
  }
}

async function send(agent: TestAgent, address: string): Promise<Receipt> {
  const answer = await agent.api.post(`/v1/inboxes/${agent.inboxId}/sent`, {
    to: [{ address }],
    subject: 'Notes',
    text: 'x',
  });
  if (answer.status !== 201) throw new Error(`not taken: ${answer.bytes}`);
  return answer.json<Receipt>();
}

/** Of a RCPT command, in small letters as all of ours are. */
function recipientIn(line: string): string {
  return /^RCPT TO:<(.*?)>/.exec(line)?.[1] ?? '';
}

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
