import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { AccountId, InboxId } from '../../src/domain/ids.js';
import { createAgent, type TestAgent } from '../support/box/agents.js';
import type { PosternBox } from '../support/box/postern-box.js';
import { openStore } from '../support/box/store-facts.js';
import { ScriptedRelay } from '../support/sending/scripted-relay.js';
import { postSend, type Receipt, submission } from '../support/sending/sending.js';
import { SendingSide } from '../support/sending/sending-side.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';
import { onceThat, say } from '../support/smarthost/smarthost-script.js';
import { sendMessage } from '../support/use-cases.js';

const CONNECTIONS = 2;
/** Sends in flight to the smarthost at once: two for each connection (`src/app/sending.ts`). */
const PLACES = 2 * CONNECTIONS;
const WAITING = 1_000;
/** More than an offer takes, from the disk to its lane. */
const OFFERED_MS = 1_000;

/** What a process that ended has left: reserved sends of one account, older than all that follow. */
async function leaveWaiting(box: PosternBox, { accountId, inboxId }: TestAgent): Promise<void> {
  const store = openStore(box);
  const side = new SendingSide({ store, clock: Date.now, relay: new ScriptedRelay(), responseTimeoutMs: 1 });
  side.mode = 'drop';
  const owner = { accountId: accountId as AccountId, inboxId: inboxId as InboxId };
  await Promise.all(
    Array.from({ length: WAITING }, () =>
      sendMessage(side.send, {
        ...owner,
        to: [{ address: 'ann@remote.example' }],
        subject: 'Notes',
        text: 'Hello',
      }),
    ),
  );
  await store.close();
}

t.test('a thousand sends of one account wait: the first of another goes after one turn', async t => {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  t.teardown(() => open());
  const { box, smarthost } = await startSmarthostBox(
    t,
    {
      POSTERN_LIMITS_SENDS: '100000',
      POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: `${CONNECTIONS}`,
      POSTERN_RELAY_RESPONSE_TIMEOUT_S: '60',
    },
    { dot: onceThat(opened, say('250 2.0.0 Taken')) },
  );
  const [ann, bob, cid] = await Promise.all(['ann', 'bob', 'cid'].map(name => createAgent(box, name)));
  if (ann === undefined || bob === undefined || cid === undefined) throw new Error('three agents');
  await box.stop();
  await leaveWaiting(box, ann);
  await box.start();
  await smarthost.until(() => smarthost.submissions.length === CONNECTIONS);
  const others = [bob, cid].map(agent =>
    postSend(
      { ...agent, api: box.api(agent.credential) },
      submission(`${agent.address.split('@')[0]}@remote.example`),
    ),
  );
  await reserved(bob);
  await reserved(cid);
  await delay(OFFERED_MS);

  const startedAt = performance.now();
  open();
  for (const answer of await Promise.all(others)) {
    t.match(answer.json<Receipt>(), { message: { status: 'accepted' } });
  }
  t.comment(`the others waited ${Math.round(performance.now() - startedAt)} ms`);
  const order = smarthost.submissions.map(({ from }) => from);
  for (const { address } of [bob, cid]) {
    // Those that were in flight already, and a turn of each account.
    t.ok(order.indexOf(address) < PLACES + 6, `${address} is number ${order.indexOf(address) + 1}`);
  }
  await smarthost.until(() => smarthost.submissions.length === WAITING + 2);
  t.same(
    new Set(smarthost.submissions.map(({ content }) => /^Message-ID: .*/im.exec(content.toString())?.[0]))
      .size,
    WAITING + 2,
    'all go out, each once',
  );
});

/** Resolves when the send of the agent is on disk, which is when it begins to be offered. */
async function reserved({ api, inboxId }: TestAgent): Promise<void> {
  for (;;) {
    const { messages } = (await api.get(`/v1/inboxes/${inboxId}/sent`)).json<{ messages: unknown[] }>();
    if (messages.length > 0) return;
  }
}
