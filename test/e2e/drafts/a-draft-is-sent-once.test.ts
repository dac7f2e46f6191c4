import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { submissionOf } from '../../support/sending/correspondence.js';
import {
  createDraft,
  editDraft,
  listDrafts,
  patchDraft,
  postDraftSend,
  readDraft,
  sendDraft,
} from '../../support/sending/drafts.js';
import { postSend, quota, type Receipt, send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { drop, type Script, say, stall } from '../../support/smarthost/smarthost-script.js';

const FAR = 'far@far.example';
const WHOLE = { to: [{ address: FAR, name: 'Far' }], subject: 'Notes', text: 'Hello' };

t.test('sending drafts', async t => {
  const { box, smarthost } = await startSmarthostBox(t, {
    POSTERN_LIMITS_SENDS: '100000',
    POSTERN_RELAY_RESPONSE_TIMEOUT_S: '1',
    POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: '8',
  });
  const agent = await createAgent(box);
  const stranger = await createAgent(box, 'stranger');

  await t.test('what is saved is what goes out, as the inbox is called then', async t => {
    const file = {
      filename: 'a.bin',
      type: 'application/octet-stream',
      content: Buffer.alloc(90_000, 5).toString('base64'),
    };
    const draft = await createDraft(agent, {
      ...WHOLE,
      cc: [{ address: 'copied@far.example' }],
      bcc: [{ address: 'hidden@far.example' }],
      html: '<p>Hello</p>',
      attachments: [file],
      labels: ['from a draft'],
    });
    await agent.api.patch(`/v1/inboxes/${agent.inboxId}`, { sender_name: 'Agent' });
    const answer = await postDraftSend(agent, draft.id);
    t.equal(answer.status, 201);
    const receipt = answer.json<Receipt>();
    t.equal(answer.headers.location, `/v1/sent/${receipt.message.id}`);
    t.notOk('replayed' in receipt || 'idempotency_expires_at' in receipt, 'not keyed');
    t.match(receipt, {
      limited: false,
      outcome_persisted: true,
      message: { status: 'accepted', recipient_count: 3, labels: ['from a draft'] },
    });
    t.same(await submissionOf(agent, receipt.message.id), {
      from: { address: agent.address, name: 'Agent' },
      to: WHOLE.to,
      cc: [{ address: 'copied@far.example' }],
      bcc: [{ address: 'hidden@far.example' }],
      subject: 'Notes',
      text: 'Hello\n\nSent via Postern',
      html: '<p>Hello</p><p>Sent via Postern</p>\n',
      attachments: [{ ...file, disposition: 'attachment' }],
    });
    const after = await readDraft(agent, draft.id);
    t.match(after, {
      state: 'submitted',
      sent_message_id: receipt.message.id,
      content: { text: 'Hello', html: '<p>Hello</p>' },
    });
    t.equal((await patchDraft(agent, draft.id, { text: 'x' })).code, 'draft_submitted');
    t.same(
      (await listDrafts(agent, '?state=submitted')).drafts.map(({ id }) => id),
      [draft.id],
    );
    await agent.api.patch(`/v1/sent/${receipt.message.id}`, { add_labels: ['later'] });
    const again = await postDraftSend(agent, draft.id);
    t.equal(again.status, 200);
    t.equal(again.headers.location, answer.headers.location);
    t.match(again.json<Receipt>(), {
      replayed: true,
      message: { id: receipt.message.id, labels: ['from a draft', 'later'] },
    });
    t.notOk('idempotency_expires_at' in again.json<object>());
    t.equal((await agent.api.delete(`/v1/drafts/${draft.id}`)).status, 202);
    t.equal((await agent.api.get(`/v1/sent/${receipt.message.id}`)).status, 200, 'the copy stays without it');
  });

  await t.test('every end of an attempt freezes the draft', async t => {
    const rows: readonly (readonly [string, Script, string, string | null])[] = [
      ['taken', {}, 'accepted', null],
      ['refused', { rcpt: say('550 5.1.1 Nobody') }, 'rejected', 'E_RECIPIENT_REJECTED'],
      ['cut off behind the final dot', { dot: drop }, 'unknown', 'acceptance_unknown'],
      ['silent behind the final dot', { dot: stall }, 'unknown', null],
    ];
    for (const [what, script, status, error_code] of rows) {
      await smarthost.perform(drop);
      smarthost.script = script;
      const draft = await createDraft(agent, WHOLE);
      const used = (await quota(agent.api)).used;
      const receipt = await sendDraft(agent, draft.id, { idempotency_key: `end-${status}-${error_code}` });
      t.match(receipt, { replayed: false, message: { status, error_code } }, what);
      t.match(
        await readDraft(agent, draft.id),
        { state: 'submitted', sent_message_id: receipt.message.id },
        what,
      );
      t.equal((await quota(agent.api)).used - used, status === 'rejected' ? 0 : 1, what);
      smarthost.script = {};
      const seen = smarthost.submissions.length;
      for (const body of [
        {},
        { idempotency_key: `end-${status}-${error_code}` },
        { idempotency_key: 'another' },
      ]) {
        const again = await sendDraft(agent, draft.id, body);
        t.match(again, { replayed: true, message: { id: receipt.message.id } }, what);
      }
      t.equal(smarthost.submissions.length, seen, 'nothing goes out again');
      t.equal((await patchDraft(agent, draft.id, { text: 'x' })).code, 'draft_submitted', what);
    }
    await smarthost.perform(drop);
  });

  await t.test('refusals by the order of checks', async t => {
    const draft = await createDraft(agent, {});
    const refused = async (body: object, who = agent, id = draft.id) => {
      const got = await postDraftSend(who, id, body);
      return `${got.status} ${got.code}`;
    };
    const nowhere = '0190b1f0-0000-7000-8000-000000000001';
    t.equal(
      await refused({ idempotency_key: '' }, agent, nowhere),
      '400 invalid_idempotency_key',
      'fields first',
    );
    t.equal(await refused({ idempotency_key: 7 }), '400 invalid_idempotency_key');
    t.equal(await refused({ text: 'x' }), '400 invalid_draft');
    t.equal(await refused({}, stranger), '404 not_found');
    t.equal(await refused({}, agent, nowhere), '404 not_found');
    const path = `/v1/drafts/${draft.id}/send`;
    t.equal((await agent.api.post(path)).status, 415, 'a body is needed');
    const json = { 'content-type': 'application/json' };
    t.equal((await agent.api.request('POST', path, { body: '', headers: json })).code, 'invalid_json');
    const long = JSON.stringify({ idempotency_key: 'a'.repeat(4096) });
    t.equal((await agent.api.request('POST', path, { body: long, headers: json })).code, 'body_too_large');
    t.equal(await refused({}), '400 invalid_message', 'nothing in it');
    await editDraft(agent, draft.id, { ...WHOLE, in_reply_to: nowhere });
    await box.cliJson('account', 'permissions', '--account', agent.email, '--no-send');
    t.equal(await refused({}), '403 operation_not_allowed', 'before its target is looked at');
    await box.cliJson('account', 'permissions', '--account', agent.email, '--send');
    await box.cliJson('policy', 'sending', 'set', agent.address, '--enable', '--domain', 'no.example');
    t.equal(await refused({}), '404 not_found', 'its target, before the rules');
    const half = 'é'.repeat(5 * 2 ** 18);
    await editDraft(agent, draft.id, { in_reply_to: null, text: half, html: half });
    t.equal(await refused({}), '403 recipient_not_allowed', 'the rules, before the size');
    await box.cliJson('policy', 'sending', 'disable', agent.address);
    await box.cliJson('allowance', 'set', '--account', agent.email, '--sends', '0');
    t.equal(
      await refused({}),
      '413 message_too_large',
      'the size of what is generated, before the allowance',
    );
    await editDraft(agent, draft.id, { text: 'Hello', html: null });
    t.equal(await refused({ idempotency_key: 'unused' }), '429 outbound_limit_reached');
    t.match(
      await readDraft(agent, draft.id),
      { state: 'draft', sent_message_id: null },
      'untouched by all that',
    );
    await box.cliJson('allowance', 'set', '--account', agent.email, '--sends', '100000');
    t.match(await sendDraft(agent, draft.id, { idempotency_key: 'unused' }), { replayed: false });
  });

  await t.test('its key is of the namespace of sends, and means the draft', async t => {
    const [one, two] = [await createDraft(agent, WHOLE), await createDraft(agent, WHOLE)];
    const first = await sendDraft(agent, one.id, { idempotency_key: 'shared' });
    t.match(first, { replayed: false, idempotency_expires_at: /Z$/ });
    t.match(await sendDraft(agent, one.id, { idempotency_key: 'shared' }), {
      replayed: true,
      idempotency_expires_at: first.idempotency_expires_at,
    });
    t.equal((await postDraftSend(agent, two.id, { idempotency_key: 'shared' })).code, 'idempotency_conflict');
    const plain = submission(FAR, { idempotency_key: 'shared' });
    t.equal((await postSend(agent, plain)).code, 'idempotency_conflict');
    await send(agent, submission(FAR, { idempotency_key: 'plain' }));
    t.equal((await postDraftSend(agent, two.id, { idempotency_key: 'plain' })).code, 'idempotency_conflict');
    t.equal((await postDraftSend(agent, one.id, { idempotency_key: 'plain' })).code, 'idempotency_conflict');
    t.equal((await readDraft(agent, two.id)).state, 'draft');
    const created = await createDraft(agent, { idempotency_key: 'shared' });
    t.equal(created.replayed, false, 'keys of creation are others');
    t.match(await sendDraft(agent, two.id), { message: { status: 'accepted' } });
  });

  await t.test('a copy that is gone is told of; one that is restored is shown again', async t => {
    const draft = await createDraft(agent, WHOLE);
    const { message } = await sendDraft(agent, draft.id, { idempotency_key: 'gone' });
    const code = async (body: object = {}) => {
      const got = await postDraftSend(agent, draft.id, body);
      return `${got.status} ${got.code}`;
    };
    await agent.api.post(`/v1/sent/${message.id}/trash`);
    t.equal(await code(), '409 draft_result_unavailable');
    t.equal(await code({ idempotency_key: 'gone' }), '409 idempotency_result_unavailable');
    await agent.api.post(`/v1/sent/${message.id}/restore`);
    t.match(await sendDraft(agent, draft.id), { replayed: true, message: { id: message.id } });
    await agent.api.delete(`/v1/sent/${message.id}`);
    t.equal(await code(), '409 draft_result_unavailable');
    t.equal(await code({ idempotency_key: 'gone' }), '409 idempotency_result_unavailable');
    t.match(
      await readDraft(agent, draft.id),
      { state: 'submitted', sent_message_id: message.id },
      'it stays locked',
    );
  });

  await t.test('twenty at once are one attempt, with keys and without', async t => {
    for (const keyOf of [
      () => ({}),
      () => ({ idempotency_key: 'rush' }),
      (n: number) => ({ idempotency_key: `rush-${n}` }),
    ]) {
      const draft = await createDraft(agent, WHOLE);
      const seen = smarthost.submissions.length;
      const used = (await quota(agent.api)).used;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => postDraftSend(agent, draft.id, keyOf(n))),
      );
      t.same(answers.map(({ status }) => status).sort(), [...Array.from({ length: 19 }, () => 200), 201]);
      t.equal(new Set(answers.map(answer => answer.json<Receipt>().message.id)).size, 1);
      t.match(await sendDraft(agent, draft.id), { replayed: true, message: { status: 'accepted' } });
      t.equal(smarthost.submissions.length, seen + 1);
      t.equal((await quota(agent.api)).used, used + 1);
    }
  });

  await t.test('editors and senders at once: what goes out is what was saved last, whole', async t => {
    const outcomes = { sent: 0, busy: 0, edits: 0, late: 0 };
    const round = async (number: number): Promise<void> => {
      const body = (version: number) => {
        const mark = `round ${number} version ${version}.`;
        const long = version % 3 === 0 ? 'x'.repeat(70_000).replace(/x{60}/g, '$&\n') : '';
        return { subject: mark, text: `${mark}\n${long}`, html: `<p>${mark}</p>` };
      };
      const draft = await createDraft(agent, { ...WHOLE, ...body(0) });
      const saved = [0];
      let isSent = false;
      const editor = async (first: number) => {
        for (let version = first; !isSent && version < 40; version += 2) {
          const got = await patchDraft(agent, draft.id, body(version));
          if (got.status === 200) saved.push(version);
          else t.equal(got.code, 'draft_submitted');
          outcomes[got.status === 200 ? 'edits' : 'late'] += 1;
        }
      };
      const sender = async () => {
        await delay(randomInt(12));
        for (;;) {
          const got = await postDraftSend(agent, draft.id);
          if (got.status === 201 || got.status === 200) break;
          t.equal(got.code, 'draft_busy');
          outcomes.busy += 1;
        }
        isSent = true;
        outcomes.sent += 1;
      };
      await Promise.all([editor(1), editor(2), sender(), sender()]);
      const mine = smarthost.submissions.filter(({ content }) => content.includes(`round ${number} version`));
      t.equal(mine.length, 1, `round ${number} went out once`);
      const wire = mine[0]?.content.toString('latin1').replace(/=\r\n/g, '') ?? '';
      const versions = new Set(
        [...wire.matchAll(/round \d+ version (\d+)\./g)].map(match => Number(match[1])),
      );
      t.equal(versions.size, 1, 'subject, text and HTML are of one version');
      const [version = -1] = versions;
      const frozen = await readDraft(agent, draft.id);
      t.match(frozen.content, body(version), 'the one that the draft was frozen with');
      t.ok(saved.includes(version));
      const last = [...saved].filter(one => one % 2 === version % 2).at(-1);
      t.equal(
        version,
        last === undefined || version === 0 ? version : last,
        'no edit of its editor came after it',
      );
    };
    const isEnough = () => Math.min(outcomes.edits, outcomes.busy, outcomes.late) >= 3;
    // How the requests fall together is chance: as many rounds as it takes to see each of them.
    for (let number = 0; number < 40 || (!isEnough() && number < 400); number += 4) {
      await Promise.all([0, 1, 2, 3].map(lane => round(number + lane)));
    }
    t.comment(JSON.stringify(outcomes));
    t.ok(isEnough(), JSON.stringify(outcomes));
  });

  t.match(await box.cliJson('verify'), { sound: true });
});
