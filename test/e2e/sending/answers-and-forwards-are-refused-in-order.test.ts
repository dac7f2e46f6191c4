import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { answer, type Helper, postHelper } from '../../support/sending/correspondence.js';
import { postSend, quota, send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { drop, say } from '../../support/smarthost/smarthost-script.js';
import { deliver } from '../../support/smtp/deliver.js';

const HELPERS: readonly Helper[] = ['reply', 'reply-all', 'forward'];
const NOWHERE = '0190b1f0-0000-7000-8000-000000000001';
const FAR = [{ address: 'far@far.example' }];

/** The least that a helper takes. */
function body(helper: Helper, message_id: string, fields: object = {}): object {
  return { message_id, ...(helper === 'forward' ? { to: FAR } : { text: 'Yes' }), ...fields };
}

// The order of checks of `replyMessage` and its like: fields, ownership, permission, replay, state, policy, size, quota.
t.test('what keeps an answer or a forward from being sent is told in order', async t => {
  const { box, smarthost } = await startSmarthostBox(t);
  const agent = await createAgent(box);
  const stranger = await createAgent(box, 'stranger');
  const other = { ...agent, inboxId: (await createInbox(agent, 'other')).id };
  const receive = async (headers: Record<string, string> = {}, text = 'Hello') => {
    const id = await deliver(
      box,
      agent.address,
      mimeLetter({ headers: { From: FAR[0]!.address, ...headers }, text }),
    );
    await agent.api.finished(id);
    return id;
  };
  const source = await receive();
  const refused = async (helper: Helper, fields: object, who = agent) => {
    const got = await postHelper(who, helper, fields);
    return `${got.status} ${got.code}`;
  };
  const allow = (...args: string[]) =>
    box.cliJson('account', 'permissions', '--account', agent.email, ...args);
  const allowance = (sends: number) =>
    box.cliJson('allowance', 'set', '--account', agent.email, '--sends', String(sends));
  await allowance(1000);

  await t.test('fields come first, also in an inbox that is not there', async t => {
    const nobody = { ...agent, inboxId: NOWHERE };
    const file = { filename: 'a', type: 'a/b', content: '' };
    const rows: readonly (readonly [readonly Helper[], object, string])[] = [
      [HELPERS, { message_id: undefined }, 'invalid_message'],
      [HELPERS, { message_id: null }, 'invalid_message'],
      [HELPERS, { message_id: 'x' }, 'invalid_message'],
      [HELPERS, { message_id: source.toUpperCase() }, 'invalid_message'],
      [HELPERS, { subject: 'Mine' }, 'invalid_message'],
      [HELPERS, { in_reply_to: source }, 'invalid_message'],
      [HELPERS, { colour: 'red' }, 'invalid_message'],
      [HELPERS, { labels: ['a', ' '] }, 'invalid_labels'],
      [HELPERS, { labels: 'a' }, 'invalid_labels'],
      [HELPERS, { labels: Array.from({ length: 33 }, (_, n) => `${n}`) }, 'invalid_labels'],
      [HELPERS, { idempotency_key: 'a b' }, 'invalid_idempotency_key'],
      [HELPERS, { idempotency_key: 7 }, 'invalid_idempotency_key'],
      [['reply', 'reply-all'], { to: FAR }, 'invalid_message'],
      [['reply', 'reply-all'], { cc: [] }, 'invalid_message'],
      [['reply', 'reply-all'], { text: ' \n' }, 'invalid_message'],
      [['reply', 'reply-all'], { text: '\ud800' }, 'invalid_message'],
      [['reply', 'reply-all'], { text: null }, 'invalid_message'],
      [['reply', 'reply-all'], { attachments: [{ ...file, filename: 'a/b' }] }, 'invalid_message'],
      [['reply', 'reply-all'], { attachments: [{ ...file, disposition: 'inline' }] }, 'invalid_message'],
      [['reply', 'reply-all'], { attachments: Array.from({ length: 33 }, () => file) }, 'invalid_message'],
      [['forward'], { text: 'Yes' }, 'invalid_message'],
      [['forward'], { attachments: [] }, 'invalid_message'],
      [['forward'], { to: [] }, 'invalid_message'],
      [['forward'], { to: ['far@far.example'] }, 'invalid_message'],
      [['forward'], { to: [{ address: 'far' }] }, 'invalid_message'],
      [['forward'], { to: [{ address: FAR[0]?.address, colour: 'red' }] }, 'invalid_message'],
      [['forward'], { bcc: [{ address: FAR[0]?.address, name: 'a\nb' }] }, 'invalid_name'],
      [['forward'], { cc: Array.from({ length: 50 }, () => FAR[0]) }, 'invalid_message'],
      [['forward'], { to: null }, 'invalid_message'],
      [['forward'], { note: '\ud800' }, 'invalid_message'],
      [['forward'], { include_attachments: 'no' }, 'invalid_message'],
    ];
    for (const [helpers, fields, code] of rows) {
      for (const helper of helpers) {
        const got = await refused(helper, body(helper, source, fields), nobody);
        t.equal(got, `400 ${code}`, `${helper} ${JSON.stringify(fields).slice(0, 100)}`);
      }
    }
    for (const helper of HELPERS) {
      const path = `/v1/inboxes/${NOWHERE}/${helper}`;
      const json = { 'content-type': 'application/json' };
      const raw = (content: string, headers: object = json) =>
        agent.api.request('POST', path, { body: content, headers: { ...headers } });
      t.equal((await raw('{', {})).status, 415);
      t.equal((await raw('[]')).code, 'invalid_json');
      const large = { ...json, 'content-length': 8_388_609 };
      t.equal((await raw('{', large)).code, 'body_too_large', 'by its length, unread');
    }
  });

  await t.test('inbox and source: what is not there, not live or not of this inbox is missing', async t => {
    const trashed = await receive();
    await agent.api.post(`/v1/messages/${trashed}/trash`);
    const deleted = await receive();
    await agent.api.delete(`/v1/messages/${deleted}`);
    const sent = (await send(agent, submission('far@far.example'))).message.id;
    const sentTrashed = (await send(agent, submission('far@far.example'))).message.id;
    await agent.api.post(`/v1/sent/${sentTrashed}/trash`);
    for (const helper of HELPERS) {
      t.equal(
        await refused(helper, body(helper, source), { ...stranger, inboxId: agent.inboxId }),
        '404 not_found',
      );
      t.equal(await refused(helper, body(helper, source), { ...agent, inboxId: NOWHERE }), '404 not_found');
      t.equal(
        await refused(helper, body(helper, source), stranger),
        '404 not_found',
        "another account's source",
      );
      for (const id of [NOWHERE, '-'.repeat(36), trashed, deleted, sentTrashed]) {
        t.equal(await refused(helper, body(helper, id)), '404 not_found', `${helper} ${id}`);
      }
      for (const id of [source, sent]) {
        t.equal(
          await refused(helper, body(helper, id), other),
          '404 not_found',
          'another inbox of the account',
        );
      }
    }
    await agent.api.post(`/v1/messages/${trashed}/restore`);
    t.equal((await answer(agent, 'reply', body('reply', trashed))).message.status, 'accepted', 'restored');
  });

  await t.test('permission comes before source and replay', async t => {
    const keyed = HELPERS.map(helper => body(helper, source, { idempotency_key: `before-${helper}` }));
    for (const [at, helper] of HELPERS.entries()) await answer(agent, helper, keyed[at]!);
    await allow('--no-send');
    for (const [at, helper] of HELPERS.entries()) {
      t.equal(await refused(helper, keyed[at]!), '403 operation_not_allowed', 'a replay');
      t.equal(await refused(helper, body(helper, NOWHERE)), '403 operation_not_allowed', 'no source');
    }
    await allow('--send');
    for (const [at, helper] of HELPERS.entries()) {
      t.match(await answer(agent, helper, keyed[at]!), { replayed: true });
    }
  });

  await t.test('only what was accepted, bears an id and leaves somebody is answered', async t => {
    smarthost.script = { mail: say('550 5.7.1 No') };
    const rejected = (await send(agent, submission('far@far.example'))).message.id;
    await smarthost.perform(drop);
    smarthost.script = { dot: drop };
    const unknown = await send(agent, submission('far@far.example'));
    t.equal(unknown.message.status, 'unknown');
    smarthost.script = {};
    const withoutId = await receive({ 'Message-ID': '' });
    const nonsense = await receive({ 'Message-ID': 'none' });
    const alone = await receive({ From: agent.address, To: agent.address });
    for (const helper of HELPERS) {
      for (const id of [rejected, unknown.message.id]) {
        t.equal(await refused(helper, body(helper, id)), '409 reply_not_ready');
      }
      const expected = helper === 'forward' ? '201 undefined' : '409 reply_headers_unavailable';
      t.equal(await refused(helper, body(helper, withoutId)), expected, `${helper}: no Message-ID`);
      t.equal(await refused(helper, body(helper, nonsense)), expected, `${helper}: no usable Message-ID`);
      const nobody = helper === 'forward' ? '201 undefined' : '409 reply_recipients_unavailable';
      t.equal(await refused(helper, body(helper, alone)), nobody, `${helper}: nobody is left`);
    }
    const crowd = Array.from({ length: 51 }, (_, n) => `n${n}@far.example`);
    const crowded = await receive({ Cc: crowd.join(',\r\n ') });
    t.equal(await refused('reply-all', body('reply-all', crowded)), '400 invalid_message', '52 recipients');
    t.equal(await refused('reply', body('reply', crowded)), '201 undefined');
  });

  await t.test('rules, then size, then the allowance', async t => {
    const large = 'a'.repeat(5 * 2 ** 20 + 1);
    const largeSource = await receive({}, large);
    const tooMuch = (helper: Helper) =>
      helper === 'forward' ? body(helper, largeSource) : body(helper, source, { text: large });
    const before = await quota(agent.api);
    await allowance(before.used);
    await box.cliJson('policy', 'sending', 'set', agent.address, '--enable', '--domain', 'allowed.example');
    for (const helper of HELPERS) {
      t.equal(await refused(helper, tooMuch(helper)), '403 recipient_not_allowed', helper);
    }
    await box.cliJson('policy', 'sending', 'disable', agent.address);
    for (const helper of HELPERS) {
      t.equal(await refused(helper, tooMuch(helper)), '413 message_too_large', helper);
      const got = await postHelper(
        agent,
        helper,
        body(helper, source, { idempotency_key: `late-${helper}` }),
      );
      t.equal(got.status, 429, helper);
      t.match(got.json(), { requested_recipients: 1, reason: 'temporary_exhaustion' });
    }
    t.equal((await quota(agent.api)).used, before.used, 'nothing was charged');
    await allowance(1000);
    for (const helper of HELPERS) {
      const got = await answer(agent, helper, body(helper, source, { idempotency_key: `late-${helper}` }));
      t.equal(got.replayed, false, 'the key was unused');
    }
  });

  await t.test('a suppressed recipient rejects what is derived, too', async t => {
    await box.cliJson('suppression', 'add', 'far@far.example', '--reason', 'asked');
    const seen = smarthost.submissions.length;
    for (const helper of HELPERS) {
      t.match((await answer(agent, helper, body(helper, source))).message, {
        status: 'rejected',
        error_code: 'E_RECIPIENT_SUPPRESSED',
      });
    }
    t.equal(smarthost.submissions.length, seen);
    await box.cliJson('suppression', 'remove', 'far@far.example');
  });

  const orderly = await postSend(agent, submission('far@far.example'));
  t.equal(orderly.status, 201);
  t.match(await box.cliJson('verify'), { sound: true });
});
