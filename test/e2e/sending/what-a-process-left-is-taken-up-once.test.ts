import t from 'tap';
import type { AccountId } from '../../../src/domain/ids.js';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import type { PosternBox } from '../../support/box/postern-box.js';
import { openStore, readFacts } from '../../support/box/store-facts.js';
import { ScriptedRelay } from '../../support/sending/scripted-relay.js';
import {
  postSend,
  quota,
  type Receipt,
  type SentMessage,
  submission,
} from '../../support/sending/sending.js';
import { SendingSide } from '../../support/sending/sending-side.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { type SubmissionInput, sendMessage } from '../../support/use-cases.js';

const HOUR_MS = 3_600_000;

/** What a process leaves that ends between the reservation and the start, or behind the start. */
async function leave(
  box: PosternBox,
  agent: TestAgent,
  left: { readonly hoursAgo: number; readonly isStarted: boolean },
  fields: Partial<SubmissionInput>,
): Promise<string> {
  const store = openStore(box);
  try {
    const relay = new ScriptedRelay();
    const clock = () => Date.now() - left.hoursAgo * HOUR_MS;
    const side = new SendingSide({ store, relay, clock, responseTimeoutMs: 1 });
    if (!left.isStarted) side.mode = 'drop';
    const handedOver = relay.stall();
    const sent = await sendMessage(side.send, {
      accountId: agent.accountId as AccountId,
      inboxId: agent.inboxId,
      to: [{ address: 'ann@remote.example' }],
      subject: 'Notes',
      text: 'Hello',
      ...fields,
    });
    if (!sent.ok) throw new Error(sent.failure.message);
    if (left.isStarted) await handedOver;
    return sent.value.message.id;
  } finally {
    await store.close();
  }
}

t.test('the daemon starts what never started, once, and nothing else', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000' });
  const agent = await createAgent(box);
  const stateOf = async (id: string) => (await agent.api.get(`/v1/sent/${id}`)).json<SentMessage>();
  const submitted = () =>
    smarthost.submissions.map(({ content }) => /^Subject: (.*)\r$/m.exec(content.toString('latin1'))?.[1]);
  const untilSubmitted = (count: number) => smarthost.until(() => smarthost.submissions.length >= count);
  await box.stop();
  const young = await leave(
    box,
    agent,
    { hoursAgo: 23, isStarted: false },
    {
      subject: 'young',
      idempotencyKey: 'young',
      html: '<p>Hello</p>',
      attachments: [{ filename: 'a.bin', type: 'a/b', content: Buffer.alloc(300_000, 7).toString('base64') }],
    },
  );
  const old = await leave(box, agent, { hoursAgo: 24, isStarted: false }, { subject: 'old' });
  const older = await leave(box, agent, { hoursAgo: 400, isStarted: false }, { subject: 'older' });
  const started = await leave(
    box,
    agent,
    { hoursAgo: 1, isStarted: true },
    {
      subject: 'started',
      idempotencyKey: 'started',
      bcc: [{ address: 'bob@remote.example' }],
    },
  );
  await box.start();

  await untilSubmitted(1);
  while ((await stateOf(young)).status !== 'accepted') await new Promise(setImmediate);
  t.match(await stateOf(started), { status: 'unknown', error_code: 'acceptance_unknown' });
  t.match(await stateOf(old), { status: 'unknown', error_code: null });
  const again = await postSend(
    agent,
    submission('ann@remote.example', {
      subject: 'started',
      idempotency_key: 'started',
      bcc: [{ address: 'bob@remote.example' }],
    }),
  );
  t.match(again.json<Receipt>(), { replayed: true, message: { id: started, status: 'unknown' } });
  t.match(await quota(agent.api), { used: 3 }, 'one for the young, two for the started');

  t.match(await box.cliJson<object>('queue', 'status'), {
    relay: { waiting: 0, started: 0, oldest_age_s: null },
    held: [
      { id: older, subject: 'older' },
      { id: old, subject: 'old' },
    ],
  });
  const refused = await box.cli('queue', 'retry', started);
  t.equal(refused.code, 1);
  t.match(refused.stderr, /may have gone out and is never sent again/);

  await box.restart();
  t.same(submitted(), ['young'], 'another start sends nothing');

  t.same(await box.cliJson<object>('queue', 'retry', old), { retried: [old] });
  // The daemon looks at what is pending at its start, and every half minute.
  await box.restart();
  await untilSubmitted(2);
  t.same(await box.cliJson<object>('queue', 'retry', '--all'), { retried: [older] });
  await box.restart();
  await untilSubmitted(3);
  while ((await stateOf(older)).status !== 'accepted') await new Promise(setImmediate);
  t.same(submitted(), ['young', 'old', 'older']);
  t.match(await stateOf(started), { status: 'unknown', error_code: 'acceptance_unknown' });
  const date = /^Date: (.*)\r$/m.exec(smarthost.submissions[2]!.content.toString('latin1'))?.[1] ?? '';
  t.ok(Date.now() - Date.parse(date) > 399 * HOUR_MS, 'the Date of a message is that of its reservation');

  await box.stop();
  const store = openStore(box);
  const { faults, pending } = readFacts(store);
  await store.close();
  t.same(faults, []);
  t.match(pending, { relay: 0, 'relay-held': 0 });
  t.match(await box.cliJson('verify'), { sound: true }, 'the store is sound');
});
