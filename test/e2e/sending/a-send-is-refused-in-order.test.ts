import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import {
  postSend,
  type QuotaAnswer,
  quota,
  type Receipt,
  send,
  submission,
} from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { say } from '../../support/smarthost/smarthost-script.js';

// The order of checks of `sendMessage`: fields, ownership, permission, replay, state, policy, size, quota.
t.test('what keeps a message from being sent is told in order, and leaves nothing behind', async t => {
  const { box, smarthost } = await startSmarthostBox(t);
  const agent = await createAgent(box);
  const stranger = await createAgent(box, 'stranger');
  const far = 'ann@remote.example';
  const allow = (...args: string[]) =>
    box.cliJson('account', 'permissions', '--account', agent.email, ...args);
  const rules = (...args: string[]) => box.cliJson('policy', 'sending', ...args);

  await t.test('another account is as missing as an inbox that never was', async t => {
    t.equal((await postSend({ ...stranger, inboxId: agent.inboxId }, submission(far))).code, 'not_found');
    const bad = submission('no address');
    t.equal(
      (await postSend({ ...stranger, inboxId: agent.inboxId }, bad)).code,
      'invalid_message',
      'fields first',
    );
  });

  await t.test('an account that may not send is told so, also of what it sent before', async t => {
    const keyed = submission(far, { idempotency_key: 'before' });
    const receipt = await send(agent, keyed);
    await allow('--no-send');
    const refused = await postSend(agent, keyed);
    t.equal(refused.status, 403);
    t.equal(refused.code, 'operation_not_allowed');
    t.match(refused.json<{ error: { message: string } }>().error.message, /Sending is switched off/);
    t.equal((await agent.api.get(`/v1/sent/${receipt.message.id}`)).status, 200, 'reading is not sending');
    await allow('--send');
    t.match(await send(agent, keyed), { replayed: true, message: { id: receipt.message.id } });
  });

  await t.test('rules of the inbox hold for every recipient, and for new attempts only', async t => {
    const keyed = submission(far, { idempotency_key: 'ruled' });
    const receipt = await send(agent, keyed);
    await rules(
      'set',
      agent.address,
      '--enable',
      '--domain',
      'allowed.example',
      '--address',
      'Bob@x.example',
    );
    t.match((await agent.api.get(`/v1/inboxes/${agent.inboxId}/sending-policy`)).json(), {
      enabled: true,
      domains: ['allowed.example'],
    });
    for (const body of [
      submission(far),
      submission('ok@allowed.example', { cc: [{ address: far }] }),
      submission('ok@allowed.example', { bcc: [{ address: 'ok@sub.allowed.example' }] }),
      submission('bob@x.example'),
    ]) {
      const refused = await postSend(agent, body);
      t.equal(refused.status, 403);
      t.equal(refused.code, 'recipient_not_allowed');
    }
    t.match(await send(agent, submission('ok@Allowed.Example')), { message: { status: 'accepted' } });
    t.match(await send(agent, submission('Bob@X.example')), { message: { status: 'accepted' } });
    t.match(await send(agent, keyed), { replayed: true, message: { id: receipt.message.id } });
    const fresh = submission(far, { idempotency_key: 'unused' });
    t.equal((await postSend(agent, fresh)).code, 'recipient_not_allowed');
    await rules('disable', agent.address);
    t.match(await send(agent, fresh), { replayed: false }, 'the key was not used up by the refusal');
  });

  await t.test('what is too large is refused before it is counted against the allowance', async t => {
    const used = (await quota(agent.api)).used;
    const text = 'a'.repeat(5 * 2 ** 20 + 1);
    t.equal((await postSend(agent, submission(far, { text }))).code, 'message_too_large');
    const content = Buffer.alloc(3_932_160).toString('base64');
    const fits = { filename: 'a.bin', type: 'application/octet-stream', content };
    const refused = await postSend(agent, submission(far, { text: 'a', attachments: [fits] }));
    t.equal(refused.status, 413, 'the sum of text and base64 is one byte too many');
    const near = Buffer.alloc(3_900_000).toString('base64');
    const generated = await postSend(agent, submission(far, { attachments: [{ ...fits, content: near }] }));
    t.equal(generated.code, 'message_too_large', 'with line ends of its base64 the message is over 5 MiB');
    t.equal((await quota(agent.api)).used, used);
  });

  await t.test('an allowance is kept to the last recipient and says when to come back', async t => {
    await box.cliJson('allowance', 'set', '--account', agent.email, '--sends', '3');
    await box.cliJson('allowance', 'set', '--account', stranger.email, '--sends', '3');
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ address: `n${n}@remote.example` }));
    const fresh = { ...stranger };
    const tooMany = await postSend(fresh, { ...submission(far), to: many(4) });
    t.equal(tooMany.status, 429);
    t.match(tooMany.json(), {
      error: { code: 'outbound_limit_reached' },
      quota: {
        allowance: 3,
        used: 0,
        remaining: 3,
        next_capacity_at: null,
        window_hours: 24,
        unit: 'recipient_deliveries',
      },
      requested_recipients: 4,
      reason: 'message_exceeds_allowance',
      sufficient_capacity_at: null,
    });
    t.equal(tooMany.headers['retry-after'], undefined);
    const first = await send(fresh, submission(far));
    await send(fresh, { ...submission(far), to: many(2) });
    const refused = await postSend(fresh, submission(far, { idempotency_key: 'later' }));
    const body = refused.json<{
      quota: QuotaAnswer;
      sufficient_capacity_at: string;
      reason: string;
      guidance: string;
    }>();
    t.equal(body.reason, 'temporary_exhaustion');
    t.match(body.quota, { used: 3, remaining: 0, next_capacity_amount: 1 });
    const freed = Date.parse(first.message.created_at) + 24 * 60 * 60 * 1000;
    t.equal(Date.parse(body.sufficient_capacity_at), freed);
    t.equal(Date.parse(body.quota.next_capacity_at ?? ''), freed);
    const wait = Number(refused.headers['retry-after']);
    t.ok(wait > 86_000 && wait <= 86_400, `Retry-After ${wait}`);
    const two = await postSend(fresh, { ...submission(far), to: many(2) });
    t.ok(two.json<{ sufficient_capacity_at: string }>().sufficient_capacity_at > body.sufficient_capacity_at);
    await box.cliJson('allowance', 'set', '--account', stranger.email, '--sends', '4');
    t.match(await send(fresh, submission(far, { idempotency_key: 'later' })), { replayed: false }, 'at once');
  });

  await t.test('twenty at once do not overspend, and a rejected one gives its charge back', async t => {
    const busy = await createAgent(box, 'busy');
    await box.cliJson('allowance', 'set', '--account', busy.email, '--sends', '10');
    const answers = await Promise.all(Array.from({ length: 20 }, () => postSend(busy, submission(far))));
    t.equal(answers.filter(({ status }) => status === 201).length, 10);
    t.equal(answers.filter(({ status }) => status === 429).length, 10);
    t.equal((await quota(busy.api)).used, 10);
    await box.cliJson('allowance', 'set', '--account', busy.email, '--sends', '11');
    smarthost.script = { rcpt: say('550 5.1.1 Nobody') };
    t.match(await send(busy, submission(far)), { message: { status: 'rejected' } });
    smarthost.script = {};
    t.match(await send(busy, submission(far)), { message: { status: 'accepted' } });
    t.equal((await quota(busy.api)).used, 11);
  });

  await t.test('a suppressed recipient rejects the message, unsent and uncharged', async t => {
    await box.cliJson('suppression', 'add', 'gone@remote.example', '--reason', 'asked');
    const used = (await quota(agent.api)).used;
    await box.cliJson('allowance', 'set', '--account', agent.email, '--sends', '100');
    const seen = smarthost.submissions.length;
    const receipt = await send(agent, submission(far, { cc: [{ address: 'Gone@Remote.Example' }] }));
    t.match(receipt.message, {
      status: 'rejected',
      error_code: 'E_RECIPIENT_SUPPRESSED',
      recipient_count: 2,
    });
    t.equal(smarthost.submissions.length, seen);
    t.equal((await quota(agent.api)).used, used);
    await box.cliJson('suppression', 'remove', 'gone@remote.example');
    t.match(await send(agent, submission('gone@remote.example')), { message: { status: 'accepted' } });
  });

  await t.test('what is answered has to be there, ready and with headers', async t => {
    const other = await createInbox(agent, 'other');
    const answer = (in_reply_to: string) => postSend(agent, submission(far, { in_reply_to }));
    t.equal((await answer('not an id')).code, 'invalid_message');
    t.equal((await answer('0190b1f0-0000-7000-8000-000000000001')).code, 'not_found');
    const sent = await send({ ...agent, inboxId: other.id }, submission(far));
    t.equal((await answer(sent.message.id)).code, 'not_found', 'another inbox of the account');
    smarthost.script = { mail: say('550 5.7.1 No') };
    const rejected = await send(agent, submission(far));
    smarthost.script = {};
    t.equal((await answer(rejected.message.id)).code, 'reply_not_ready');
    const accepted = await send(agent, submission(far));
    t.match((await answer(accepted.message.id)).json<Receipt>().message, {
      in_reply_to: accepted.message.id,
      thread_id: accepted.message.thread_id,
    });
    await agent.api.post(`/v1/sent/${accepted.message.id}/trash`);
    t.equal((await answer(accepted.message.id)).code, 'not_found', 'in Trash');
  });

  t.match(await box.cliJson('verify'), { sound: true });
});
