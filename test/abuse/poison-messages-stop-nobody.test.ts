import t from 'tap';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';
import { acceptedId, sha256, writeLetter } from '../support/letters/letters.js';
import { SENDER } from '../support/smtp/deliver.js';
import { SmtpClient } from '../support/smtp/smtp-client.js';
import { largestPoison, poisonSet } from './poison-set.js';

const SIZES = [64 * 1024, 1024 * 1024];

interface Sent {
  readonly name: string;
  readonly id: string;
  readonly sha256: string;
}

async function sendPoison(box: PosternBox, agent: TestAgent): Promise<Sent[]> {
  const client = await SmtpClient.ready(box.smtpPort);
  const sent: Sent[] = [];
  for (const { name, build } of [...poisonSet(SIZES), ...largestPoison(1)]) {
    const raw = build();
    const id = acceptedId(await client.sendMail(SENDER, [agent.address], raw));
    sent.push({ name, id, sha256: sha256(raw) });
  }
  await client.close();
  return sent;
}

/** Sends ordinary mail and reads the list until told to stop; the ids of what was sent. */
async function goOn(box: PosternBox, agent: TestAgent, shouldStop: () => boolean): Promise<string[]> {
  const client = await SmtpClient.ready(box.smtpPort);
  const ids: string[] = [];
  while (!shouldStop() || ids.length === 0) {
    ids.push(acceptedId(await client.sendMail(SENDER, [agent.address], writeLetter().raw)));
    const newest = await agent.api.page(agent.inboxId);
    if (!newest.messages.some(({ id }) => id === ids.at(-1))) throw new Error('a letter is not in the list');
    // The next one when this one can be read: the pace is the daemon's.
    await agent.api.finished(ids.at(-1) ?? '');
  }
  await client.close();
  return ids;
}

t.test('hostile messages are ready or failed, and ordinary mail passes meanwhile', async t => {
  const box = await startBox(t);
  const victim = await createAgent(box, 'victim');
  const bystander = await createAgent(box, 'bystander');
  let isOver = false;
  const suffer = async () => {
    const poison = await sendPoison(box, victim);
    const finished = await Promise.all(poison.map(({ id }) => victim.api.finished(id)));
    isOver = true;
    return { poison, finished };
  };
  const [{ poison, finished }, letters] = await Promise.all([suffer(), goOn(box, bystander, () => isOver)]);

  t.same(
    finished
      .filter(({ processing_status: status }) => status !== 'ready' && status !== 'failed')
      .map(({ id }) => id),
    [],
  );
  const statuses = await Promise.all(
    letters.map(async id => (await bystander.api.detail(id)).processing_status),
  );
  t.ok(statuses.length > 0, `${statuses.length} letters meanwhile`);
  t.same(new Set(statuses), new Set(['ready']), 'every letter is ready');
  for (const { name, id, sha256: expected } of poison) {
    t.equal(sha256(await victim.api.raw(id)), expected, `${name}: the raw bytes are intact`);
  }
  const facts = await untilFacts(box, isAtRest);
  t.same(facts.faults, []);
  t.same(await box.stop(), { code: 0, signal: null }, 'the daemon that began is the one that ends');
});
