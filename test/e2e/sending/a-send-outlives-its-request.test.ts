import { request } from 'node:http';
import t from 'tap';
import { createAgent, createInbox, type TestAgent } from '../../support/box/agents.js';
import type { PosternBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import {
  postSend,
  quota,
  type Receipt,
  type SentMessage,
  send,
  submission,
} from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { onceThat, say, stall } from '../../support/smarthost/smarthost-script.js';

const FAR = 'ann@remote.example';
/** Larger than what lies in a record. */
const FILE = { filename: 'a.bin', type: 'a/b', content: Buffer.alloc(400_000, 7).toString('base64') };

/** A promise, and what fulfils it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { opened, open };
}

async function sentCopies({ api, inboxId }: TestAgent): Promise<readonly SentMessage[]> {
  return (await api.get(`/v1/inboxes/${inboxId}/sent`)).json<{ messages: SentMessage[] }>().messages;
}

async function untilSettled(agent: TestAgent, id: string): Promise<SentMessage> {
  for (;;) {
    const copy = (await sentCopies(agent)).find(message => message.id === id);
    if (copy !== undefined && copy.status !== 'unknown') return copy;
    await new Promise(resolve => setTimeout(resolve, 15));
  }
}

t.test('what a request began goes on, whatever becomes of the request', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000' });
  const agent = await createAgent(box);
  const allow = (...args: string[]) =>
    box.cliJson('account', 'permissions', '--account', agent.email, ...args);
  const untilSubmitted = (count: number) => smarthost.until(() => smarthost.submissions.length === count);

  await t.test('the client goes away: the outcome is saved, and a retry tells it', async t => {
    const { opened, open } = gate();
    smarthost.script = { dot: onceThat(opened, say('250 2.0.0 OK')) };
    const body = submission(FAR, { idempotency_key: 'gone', attachments: [FILE] });
    const leave = post(box, agent, body);
    await untilSubmitted(1);
    await leave();
    open();
    const [copy] = await sentCopies(agent);
    if (copy === undefined) throw new Error('nothing was reserved');
    t.equal((await untilSettled(agent, copy.id)).status, 'accepted');
    t.match(await send(agent, body), { replayed: true, message: { id: copy.id, status: 'accepted' } });
    t.equal(smarthost.submissions.length, 1);
  });

  await t.test(
    'its copy is deleted meanwhile: the outcome is told and not kept, no byte is left',
    async t => {
      const { opened, open } = gate();
      smarthost.script = { dot: onceThat(opened, say('250 2.0.0 OK')) };
      const seen = smarthost.submissions.length;
      const answer = postSend(agent, submission(FAR, { attachments: [FILE], text: 'long\n'.repeat(30_000) }));
      await untilSubmitted(seen + 1);
      const [copy] = await sentCopies(agent);
      t.equal((await agent.api.delete(`/v1/sent/${copy?.id}`)).status, 202);
      open();
      const receipt = (await answer).json<Receipt>();
      t.match(receipt, { outcome_persisted: false, message: { id: copy?.id, status: 'accepted' } });
      t.equal((await agent.api.get(`/v1/sent/${copy?.id}`)).status, 404);
      await untilFacts(box, facts => isAtRest(facts) && facts.faults.length === 0);
    },
  );

  await t.test(
    'sending is switched off, or the inbox deleted: what is with the smarthost stands',
    async t => {
      const inbox = await createInbox(agent, 'leaving');
      for (const change of [() => allow('--no-send'), () => agent.api.delete(`/v1/inboxes/${inbox.id}`)]) {
        const { opened, open } = gate();
        smarthost.script = { dot: onceThat(opened, say('250 2.0.0 OK')) };
        const seen = smarthost.submissions.length;
        const answer = postSend({ ...agent, inboxId: inbox.id }, submission(FAR, { attachments: [FILE] }));
        await untilSubmitted(seen + 1);
        await change();
        open();
        t.match((await answer).json<Receipt>().message, { status: 'accepted' });
        await allow('--send');
      }
      await untilFacts(box, facts => isAtRest(facts) && facts.faults.length === 0);
    },
  );

  await t.test('the daemon is stopped: who waits is answered, and nothing is sent again', async t => {
    smarthost.script = { dot: stall };
    const seen = smarthost.submissions.length;
    const body = submission(FAR, { idempotency_key: 'stopped' });
    const answer = postSend(agent, body);
    await untilSubmitted(seen + 1);
    const exit = box.stop();
    const receipt = (await answer).json<Receipt>();
    t.match(receipt, { replayed: false, message: { status: 'unknown' } });
    t.same(await exit, { code: 0, signal: null });
    t.equal(box.heard(/takes too long/).length, 0, 'in order, not by the deadline');
    smarthost.script = {};
    await box.start();
    t.match(await send(agent, body), {
      replayed: true,
      message: { id: receipt.message.id, status: 'unknown', error_code: 'acceptance_unknown' },
    });
    t.equal(smarthost.submissions.length, seen + 1);
  });
  t.match(await box.cliJson('verify'), { sound: true }, 'the store is sound');
});

t.test('the response timeout comes first: unknown now, the outcome later', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_RELAY_RESPONSE_TIMEOUT_S: '1' });
  const agent = await createAgent(box);
  const { opened, open } = gate();
  smarthost.script = { dot: onceThat(opened, say('554 5.6.0 No')) };
  const before = (await quota(agent.api)).used;
  const receipt = await send(agent, submission(FAR, { labels: ['first'] }));
  t.match(receipt, { outcome_persisted: true, message: { status: 'unknown', error_code: null } });
  t.equal((await quota(agent.api)).used, before + 1, 'charged as long as it is not known');
  await agent.api.patch(`/v1/sent/${receipt.message.id}`, { add_labels: ['second'] });
  open();
  t.match(await untilSettled(agent, receipt.message.id), {
    status: 'rejected',
    error_code: 'E_MESSAGE_REJECTED',
    labels: ['first', 'second'],
  });
  t.equal((await quota(agent.api)).used, before);
});

/** Posts a send; the function that comes back ends the connection, and resolves when it is gone. */
function post(box: PosternBox, agent: TestAgent, body: object): () => Promise<void> {
  const outgoing = request({
    port: box.httpPort,
    method: 'POST',
    path: `/v1/inboxes/${agent.inboxId}/sent`,
    headers: { authorization: `Bearer ${agent.credential}`, 'content-type': 'application/json' },
  });
  const closed = new Promise<void>(resolve => {
    outgoing.on('error', () => {}).on('close', resolve);
  });
  outgoing.end(JSON.stringify(body));
  return () => {
    outgoing.destroy();
    return closed;
  };
}
