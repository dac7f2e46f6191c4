import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import type { PosternBox } from '../support/box/postern-box.js';
import { allSent, quota, type Receipt, settledSends, submission } from '../support/sending/sending.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';
import { type Cue, say } from '../support/smarthost/smarthost-script.js';

const CLIENTS = 20;
const SENDS_EACH = 15;
const KILLS = 6;

t.test('300 keyed sends and a daemon that is killed: each goes out once at most', async t => {
  const { box, smarthost } = await startSmarthostBox(
    t,
    { POSTERN_LIMITS_SENDS: '100000', POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: '20' },
    // Some are refused, so that charges go back.
    { rcpt: ({ line }: Cue) => (line.includes('refused') ? say('550 5.1.1 Nobody') : null) },
  );
  const agent = await createAgent(box);
  const receipts = new Map<string, Receipt>();
  const clients = Array.from({ length: CLIENTS }, (_, client) => work(box, agent, client, receipts));
  let isDone = false;
  const all = Promise.all(clients).then(() => {
    isDone = true;
  });
  for (let kill = 0; kill < KILLS && !isDone; kill++) {
    await box.untilReady();
    // A random moment is the point: before a reservation, behind it, in the middle of a submission.
    await delay(randomInt(250));
    await box.kill();
    await box.start();
  }
  await all;
  await settledSends(agent);

  const sent = await allSent(agent);
  t.equal(receipts.size, CLIENTS * SENDS_EACH);
  t.equal(
    new Set([...receipts.values()].map(({ message }) => message.id)).size,
    receipts.size,
    'one resource a key',
  );
  t.equal(sent.length, receipts.size, 'and no other');

  const seen = new Map<string, number>();
  for (const { content } of smarthost.submissions) {
    const id = /^Message-ID: <([^@]+)@/im.exec(content.toString('latin1'))?.[1] ?? 'none';
    seen.set(id, (seen.get(id) ?? 0) + 1);
  }
  t.same(
    [...seen].filter(([, times]) => times > 1),
    [],
    'the smarthost saw each message once at most',
  );
  const wrong = sent.filter(
    ({ id, status }) => (status === 'accepted' && !seen.has(id)) || (status === 'rejected' && seen.has(id)),
  );
  t.same(wrong, [], 'accepted ones went out, rejected ones did not');
  const charged = sent.filter(({ status }) => status !== 'rejected').length;
  t.equal((await quota(agent.api)).used, charged, 'charges equal the outcomes');

  const facts = await box.cliJson<{ relay: { waiting: number; started: number }; held: object[] }>(
    'queue',
    'status',
  );
  t.match(facts, { relay: { waiting: 0, started: 0 }, held: [] }, 'nothing is left in between');
  const run = await box.cli('verify');
  t.equal(run.code, 0, `sound: ${run.stderr}`);
  const count = (status: string) => sent.filter(message => message.status === status).length;
  t.comment(`${count('accepted')} accepted, ${count('rejected')} rejected, ${count('unknown')} unknown`);
});

/** Sends its messages one after the other, each with its key until an answer comes. */
async function work(
  box: PosternBox,
  agent: TestAgent,
  client: number,
  receipts: Map<string, Receipt>,
): Promise<void> {
  for (let number = 0; number < SENDS_EACH; number++) {
    const key = `client-${client}-${number}`;
    const to = number % 5 === 0 ? `refused-${key}@remote.example` : `${key}@remote.example`;
    const body = submission(to, {
      idempotency_key: key,
      text: 'x'.repeat(randomInt(1, 20_000)).replace(/x{60}/g, '$&\n'),
    });
    const text = JSON.stringify(body);
    for (;;) {
      await box.untilReady();
      const answer = await agent.api
        .request('POST', `/v1/inboxes/${agent.inboxId}/sent`, {
          body: text,
          headers: { 'content-type': 'application/json' },
        })
        .catch(() => null);
      if (answer?.status === 201 || answer?.status === 200) {
        receipts.set(key, answer.json<Receipt>());
        break;
      }
      // Redis is not there yet, or the connection was cut: the same request again.
      await delay(20);
    }
  }
}
