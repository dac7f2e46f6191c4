import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import {
  createDraft,
  type Draft,
  editDraft,
  patchDraft,
  postDraft,
  readDraft,
} from '../../support/sending/drafts.js';

const METADATA = ['created_at', 'id', 'inbox_id', 'sent_message_id', 'state', 'subject', 'updated_at'];
const NOWHERE = '0190b1f0-0000-7000-8000-000000000001';
const keys = (value: object) => Object.keys(value).sort();

t.test('drafts hold what was written to them, field by field', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const stranger = await createAgent(box, 'stranger');
  const to = [{ address: 'Ann@far.example', name: 'Ann Ünal' }];
  const file = { filename: 'ü.txt', type: 'text/plain', content: 'R3LDvMOfZQ==' };

  await t.test('an empty one is a draft, and tells of itself', async t => {
    const made = await postDraft(agent, {});
    t.equal(made.status, 201);
    const draft = made.json<Draft>();
    t.equal(made.headers.location, `/v1/drafts/${draft.id}`);
    t.same(keys(draft), METADATA, 'metadata alone, and no trace of a key');
    t.match(draft, { inbox_id: agent.inboxId, state: 'draft', subject: '', sent_message_id: null });
    t.equal(draft.created_at, draft.updated_at);
    t.same(await readDraft(agent, draft.id), {
      ...draft,
      from: { address: agent.address },
      content: { to: [], cc: [], bcc: [], subject: '', text: '', attachments: [] },
    });
  });

  await t.test('a full one is read back as it was written, without attribution', async t => {
    const content = {
      to,
      cc: [{ address: 'bob@far.example' }, { address: 'bob@far.example' }],
      bcc: [{ address: 'eve@far.example', name: 'Eve' }],
      subject: 'Zürich – "attachments":[]',
      text: '{"attachments":[]}\r\nGrüße',
      html: '<p>"attachments":[]</p>',
      attachments: [file, { ...file, filename: 'empty', content: '' }],
      in_reply_to: NOWHERE,
      labels: ['b', ' a ', 'b'],
    };
    const draft = await createDraft(agent, content);
    await agent.api.patch(`/v1/inboxes/${agent.inboxId}`, { sender_name: 'Agent, the' });
    t.same(await readDraft(agent, draft.id), {
      ...draft,
      from: { address: agent.address, name: 'Agent, the' },
      content: {
        ...content,
        attachments: content.attachments.map(one => ({ ...one, disposition: 'attachment' })),
        labels: ['a', 'b'],
      },
    });
  });

  await t.test('an edit changes what it names and nothing else', async t => {
    const { id } = await createDraft(agent, {
      to,
      subject: 'One',
      text: 'first',
      html: '<p>',
      labels: ['a'],
      attachments: [file],
    });
    let before = await readDraft(agent, id);
    const edit = async (fields: object, expected: object, gone: string[] = []) => {
      const metadata = await editDraft(agent, id, fields);
      t.same(keys(metadata), METADATA);
      const after = await readDraft(agent, id);
      const content: Record<string, unknown> = { ...before.content, ...expected };
      for (const name of gone) delete content[name];
      t.same(after.content, content, JSON.stringify(fields));
      t.ok(after.updated_at >= before.updated_at);
      t.equal(after.created_at, before.created_at);
      before = after;
    };
    await edit({ subject: 'Two' }, { subject: 'Two' });
    await edit({ text: '' }, { text: '' });
    await edit({ text: 'second' }, { text: 'second' });
    await edit({ html: '<b>' }, { html: '<b>' });
    await edit({ html: null }, {}, ['html']);
    await edit({ cc: to, to: [] }, { cc: to, to: [] });
    await edit({ cc: [] }, { cc: [] });
    await edit({ in_reply_to: NOWHERE }, { in_reply_to: NOWHERE });
    await edit({ in_reply_to: null }, {}, ['in_reply_to']);
    await edit({ labels: ['z', 'b'] }, { labels: ['b', 'z'] });
    await edit({ labels: [] }, {}, ['labels']);
    await edit({ attachments: [] }, { attachments: [] });
    await edit(
      { attachments: [file, file] },
      { attachments: [file, file].map(one => ({ ...one, disposition: 'attachment' })) },
    );
    await edit({ attachments: null }, { attachments: [] });
    await edit({ subject: '' }, { subject: '' });
    await edit({ cc: null, subject: null, text: null }, { cc: [], subject: '', text: '' });
  });

  await t.test('bad fields are told by their codes, and change nothing', async t => {
    const { id } = await createDraft(agent, { to, text: 'as it was' });
    const rows: readonly (readonly [object, string])[] = [
      [{ colour: 'red' }, 'invalid_draft'],
      [{ to: [{ address: 'a@b.example', colour: 'red' }] }, 'invalid_draft'],
      [{ attachments: [{ ...file, disposition: 'attachment' }] }, 'invalid_draft'],
      [{ to: 'ann@far.example' }, 'invalid_message'],
      [{ to: ['ann@far.example'] }, 'invalid_message'],
      [{ to: [{ address: 'Ann <ann@far.example>' }] }, 'invalid_message'],
      [{ cc: [{ address: 'ann@far.example', name: 'a\r\nb' }] }, 'invalid_name'],
      [{ bcc: Array.from({ length: 51 }, () => to[0]) }, 'invalid_message'],
      [{ subject: 7 }, 'invalid_message'],
      [{ subject: 'a\nb' }, 'invalid_message'],
      [{ subject: 'ü'.repeat(500) }, 'invalid_message'],
      [{ text: '\ud800' }, 'invalid_message'],
      [{ html: 7 }, 'invalid_message'],
      [{ html: '\ud800' }, 'invalid_message'],
      [{ attachments: [{ ...file, content: 'QQ=' }] }, 'invalid_message'],
      [{ attachments: [{ ...file, type: 'text' }] }, 'invalid_message'],
      [{ attachments: Array.from({ length: 33 }, () => file) }, 'invalid_message'],
      [{ in_reply_to: 'x' }, 'invalid_message'],
      [{ labels: [''] }, 'invalid_labels'],
      [{ labels: 'a' }, 'invalid_labels'],
    ];
    for (const [fields, code] of rows) {
      const what = JSON.stringify(fields).slice(0, 80);
      for (const got of [await postDraft(agent, fields), await patchDraft(agent, id, fields)]) {
        t.same([got.status, got.code], [400, code], what);
      }
      t.equal(
        (await postDraft({ ...agent, inboxId: NOWHERE }, fields)).code,
        code,
        'fields before ownership',
      );
      t.equal((await patchDraft(agent, NOWHERE, fields)).code, code);
    }
    const creation: readonly (readonly [object, string])[] = [
      [{ idempotency_key: 'a b' }, 'invalid_idempotency_key'],
      [{ source: { action: 'reply' } }, 'invalid_draft'],
      [{ source: { action: 'answer', message_id: NOWHERE } }, 'invalid_draft'],
      [{ source: { action: 'reply', message_id: 'x' } }, 'invalid_draft'],
      [{ source: { action: 'reply', message_id: NOWHERE, include_attachments: true } }, 'invalid_draft'],
      [{ source: { action: 'forward', message_id: NOWHERE, include_attachments: 1 } }, 'invalid_draft'],
      [{ source: { action: 'forward', message_id: NOWHERE }, attachments: [] }, 'invalid_draft'],
    ];
    for (const [fields, code] of creation) {
      t.equal((await postDraft(agent, fields)).code, code, JSON.stringify(fields));
    }
    for (const fields of [
      {},
      { idempotency_key: 'k' },
      { source: { action: 'reply', message_id: NOWHERE } },
      { state: 'draft' },
    ]) {
      t.equal(
        (await patchDraft(agent, id, fields)).code,
        'invalid_draft',
        `not in an edit: ${JSON.stringify(fields)}`,
      );
    }
    await editDraft(agent, id, { cc: Array.from({ length: 49 }, () => ({ address: 'c@far.example' })) });
    t.equal(
      (await patchDraft(agent, id, { bcc: to })).code,
      'invalid_message',
      '51 with those that are there',
    );
    t.match((await readDraft(agent, id)).content, { to, text: 'as it was', bcc: [] });
    const type = await agent.api.request('PATCH', `/v1/drafts/${id}`, { body: '{}' });
    t.equal(type.status, 415);
    const array = await agent.api.request('PATCH', `/v1/drafts/${id}`, {
      body: '[]',
      headers: { 'content-type': 'application/json' },
    });
    t.equal(array.code, 'invalid_json');
  });

  await t.test('a draft holds no more than can be sent', async t => {
    const half = 'x'.repeat(5 * 2 ** 19);
    const { id } = await createDraft(agent, { text: half, html: half });
    for (const fields of [{ html: `${half}x` }, { attachments: [{ ...file, content: 'QQ==' }] }]) {
      const got = await patchDraft(agent, id, fields);
      t.same([got.status, got.code], [413, 'message_too_large']);
    }
    t.equal((await postDraft(agent, { text: half, html: `${half}x` })).code, 'message_too_large');
    await editDraft(agent, id, {
      html: null,
      attachments: [{ ...file, content: 'QUJD'.repeat(5 * 2 ** 17) }],
    });
    const { content } = await readDraft(agent, id);
    t.same([content.text.length, content.attachments[0]?.content.length], [half.length, 5 * 2 ** 19]);
    await agent.api.delete(`/v1/drafts/${id}`);
  });

  await t.test('a key makes one draft, whatever becomes of it', async t => {
    const body = { to, text: 'Hello', labels: ['a'], idempotency_key: 'one' };
    const made = await postDraft(agent, body);
    t.equal(made.status, 201);
    const draft = made.json<Draft>();
    t.equal(draft.replayed, false);
    t.equal(
      Date.parse(draft.idempotency_expires_at ?? ''),
      Date.parse(draft.created_at) + 24 * 60 * 60 * 1000,
    );
    await editDraft(agent, draft.id, { subject: 'Later' });
    for (const same of [
      {},
      {
        labels: [' a ', 'a'],
        cc: [],
        bcc: [],
        subject: '',
        attachments: null,
        html: null,
        in_reply_to: null,
      },
      { to: [{ ...to[0], name: ' Ann Ünal ' }], attachments: [] },
    ]) {
      const again = await postDraft(agent, { ...body, ...same });
      t.equal(again.status, 200, JSON.stringify(same));
      t.equal(again.headers.location, `/v1/drafts/${draft.id}`);
      t.match(again.json<Draft>(), {
        id: draft.id,
        subject: 'Later',
        replayed: true,
        idempotency_expires_at: draft.idempotency_expires_at,
      });
    }
    for (const change of [
      { text: 'hello' },
      { to: [...to, ...to] },
      { subject: 'Later' },
      { labels: [] },
      { html: '' },
      { source: { action: 'reply', message_id: NOWHERE } },
    ]) {
      t.equal(
        (await postDraft(agent, { ...body, ...change })).code,
        'idempotency_conflict',
        JSON.stringify(change),
      );
    }
    const second = { ...agent, inboxId: (await createInbox(agent, 'second')).id };
    t.equal((await postDraft(second, body)).code, 'idempotency_conflict', 'another inbox');
    t.equal((await postDraft(stranger, body)).status, 201, 'another account');
    t.equal((await readDraft(agent, draft.id)).content.text, 'Hello', 'no repetition wrote anything');
    const many = await Promise.all(
      Array.from({ length: 20 }, () => postDraft(agent, { idempotency_key: 'twenty' })),
    );
    t.equal(many.filter(({ status }) => status === 201).length, 1);
    t.equal(new Set(many.map(got => got.json<Draft>().id)).size, 1);
    await agent.api.delete(`/v1/drafts/${draft.id}`);
    t.equal((await postDraft(agent, body)).code, 'idempotency_result_unavailable');
    t.equal((await postDraft(agent, { ...body, text: 'x' })).code, 'idempotency_conflict');
    const twice = [await createDraft(agent), await createDraft(agent)];
    t.not(twice[0]?.id, twice[1]?.id, 'without a key every request makes one');
  });

  t.match(await box.cliJson('verify'), { sound: true });
});
