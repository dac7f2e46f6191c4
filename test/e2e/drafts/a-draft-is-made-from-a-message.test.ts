import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { type LetterFile, mimeLetter } from '../../support/letters/mime-letter.js';
import { answer, arrived, submissionOf } from '../../support/sending/correspondence.js';
import {
  createDraft,
  editDraft,
  postDraft,
  postDraftSend,
  readDraft,
  sendDraft,
} from '../../support/sending/drafts.js';
import { send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { say } from '../../support/smarthost/smarthost-script.js';
import { deliver } from '../../support/smtp/deliver.js';

const NOWHERE = '0190b1f0-0000-7000-8000-000000000001';

t.test('drafts that answer or forward a message', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000' });
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  const other = { ...ann, inboxId: (await createInbox(ann, 'other')).id };
  const receive = async (letter: Parameters<typeof mimeLetter>[0]) => {
    const id = await deliver(box, ann.address, mimeLetter(letter));
    await ann.api.finished(id);
    return id;
  };
  const headers = {
    From: 'Zoe <zoe@far.example>',
    To: `${ann.address}, other@far.example`,
    Cc: 'copied@far.example',
    Subject: 'Plans',
    'Message-ID': '<plans@far.example>',
    References: '<older@far.example>',
  };
  const picture: LetterFile = {
    filename: 'chart.png',
    type: 'image/png',
    bytes: randomBytes(80_000),
    disposition: 'inline',
    contentId: 'chart@far.example',
  };
  const report: LetterFile = { filename: 'report.pdf', type: 'application/pdf', bytes: randomBytes(1_000) };
  const letter = {
    headers,
    text: 'What do you think?',
    html: '<p>What do you think? <img src="cid:chart@far.example"></p>',
    files: [picture, report],
  };

  await t.test('an answer saves recipients, subject and target once; what is given wins', async t => {
    const id = await receive(letter);
    const reply = { action: 'reply', message_id: id };
    const all = { action: 'reply-all', message_id: id };
    const zoe = { address: 'zoe@far.example', name: 'Zoe' };
    const derived = {
      to: [zoe],
      cc: [],
      bcc: [],
      subject: 'Re: Plans',
      in_reply_to: id,
      text: '',
      attachments: [],
    };
    const toAll = {
      ...derived,
      to: [zoe, { address: 'other@far.example' }],
      cc: [{ address: 'copied@far.example' }],
    };
    const rows: readonly (readonly [object, object])[] = [
      [{ source: reply }, derived],
      [{ source: all }, toAll],
      [
        { source: reply, text: 'Good.', html: '<p>Good.</p>' },
        { ...derived, text: 'Good.', html: '<p>Good.</p>' },
      ],
      [
        { source: all, to: [] },
        { ...toAll, to: [] },
      ],
      [
        { source: all, cc: [], bcc: [zoe] },
        { ...toAll, cc: [], bcc: [zoe] },
      ],
      [
        { source: reply, subject: '' },
        { ...derived, subject: '' },
      ],
      [
        { source: reply, subject: 'Mine' },
        { ...derived, subject: 'Mine' },
      ],
      [
        { source: reply, labels: ['a'], attachments: null },
        { ...derived, labels: ['a'] },
      ],
    ];
    for (const [body, content] of rows) {
      const draft = await createDraft(ann, body);
      t.same((await readDraft(ann, draft.id)).content, content, JSON.stringify(body));
    }
    const { in_reply_to: _target, ...untied } = derived;
    const free = await createDraft(ann, { source: reply, in_reply_to: null });
    t.same((await readDraft(ann, free.id)).content, untied, 'a target that is taken away');
    await editDraft(ann, free.id, { in_reply_to: id });
    t.same((await readDraft(ann, free.id)).content, derived, 'changing it derives nothing again');
  });

  await t.test('nobody left to answer is a matter of what is given', async t => {
    const id = await receive({
      headers: { ...headers, From: ann.address, To: ann.address, Cc: '' },
      text: 'To me',
    });
    const source = { action: 'reply', message_id: id };
    const refused = await postDraft(ann, { source });
    t.same([refused.status, refused.code], [409, 'reply_recipients_unavailable']);
    t.equal((await postDraft(ann, { source, bcc: [{ address: 'x@far.example' }] })).status, 409);
    const to = [{ address: 'x@far.example' }];
    const given = await createDraft(ann, { source, to });
    t.match((await readDraft(ann, given.id)).content, { to, cc: [], subject: 'Re: Plans', in_reply_to: id });
    const empty = await createDraft(ann, { source, to: [] });
    t.match((await readDraft(ann, empty.id)).content, { to: [], subject: 'Re: Plans' });

    const crowd = Array.from({ length: 50 }, (_, n) => `n${n}@far.example`).join(',\r\n ');
    const crowded = await receive({ headers: { ...headers, To: ann.address, Cc: crowd }, text: 'All' });
    const toAll = { action: 'reply-all', message_id: crowded };
    t.equal((await postDraft(ann, { source: toAll })).code, 'invalid_message', '51 of them');
    t.equal((await postDraft(ann, { source: toAll, bcc: to })).code, 'invalid_message');
    t.equal((await postDraft(ann, { source: toAll, to: [...to, ...to] })).code, 'invalid_message');
    const fewer = await createDraft(ann, { source: toAll, to: [] });
    t.equal(
      (await readDraft(ann, fewer.id)).content.cc.length,
      50,
      'what is given counts, not what it replaces',
    );
  });

  await t.test('an answer is sent with its headers, and needs its target until then', async t => {
    const id = await receive(letter);
    const draft = await createDraft(ann, { source: { action: 'reply', message_id: id }, text: 'Good.' });
    await ann.api.post(`/v1/messages/${id}/trash`);
    const refused = await postDraftSend(ann, draft.id);
    t.same([refused.status, refused.code], [404, 'not_found'], 'in Trash');
    t.equal((await readDraft(ann, draft.id)).state, 'draft');
    await ann.api.post(`/v1/messages/${id}/restore`);
    const receipt = await sendDraft(ann, draft.id);
    t.equal(receipt.message.in_reply_to, id);
    t.match(await submissionOf(ann, receipt.message.id), {
      to: [{ address: 'zoe@far.example', name: 'Zoe' }],
      subject: 'Re: Plans',
      text: 'Good.\n\nSent via Postern',
      attachments: [],
      headers: {
        'In-Reply-To': '<plans@far.example>',
        References: '<older@far.example> <plans@far.example>',
      },
    });
    t.match(smarthost.submissions.at(-1)?.content.toString(), /^In-Reply-To: <plans@far\.example>\r$/m);
    const gone = await createDraft(ann, { source: { action: 'reply', message_id: id }, text: 'Late' });
    await ann.api.delete(`/v1/messages/${id}`);
    t.equal((await postDraftSend(ann, gone.id)).code, 'not_found');
    await editDraft(ann, gone.id, { in_reply_to: null });
    t.match(await sendDraft(ann, gone.id), { message: { status: 'accepted', in_reply_to: null } });

    const bare = await receive({ headers: { ...headers, 'Message-ID': '' }, text: 'No id' });
    const headless = await createDraft(ann, { source: { action: 'reply', message_id: bare }, text: 'Yes' });
    const headerless = await postDraftSend(ann, headless.id);
    t.same([headerless.status, headerless.code], [409, 'reply_headers_unavailable'], 'told when it is sent');
  });

  await t.test('a forward holds the whole, and outlives what it was made from', async t => {
    const id = await receive(letter);
    const draft = await createDraft(ann, {
      source: { action: 'forward', message_id: id },
      text: 'For you',
      labels: ['a'],
    });
    t.equal(draft.subject, 'Fwd: Plans');
    const { content } = await readDraft(ann, draft.id);
    t.match(content, { to: [], cc: [], bcc: [], labels: ['a'] });
    t.notOk('in_reply_to' in content, 'it answers nothing');
    t.match(
      content.text,
      /^For you\n\n-+ Forwarded message -+\nFrom: Zoe <zoe@far\.example>\n[\s\S]*What do you think\?$/,
    );
    t.match(content.html, /^<p>For you<\/p>\s*<p>-+ Forwarded[\s\S]*<img src="cid:chart@far\.example">/);
    t.same(content.attachments, [
      {
        filename: 'chart.png',
        type: 'image/png',
        content: picture.bytes.toString('base64'),
        disposition: 'inline',
        contentId: 'chart@far.example',
      },
      {
        filename: 'report.pdf',
        type: 'application/pdf',
        content: report.bytes.toString('base64'),
        disposition: 'attachment',
      },
    ]);
    await ann.api.delete(`/v1/messages/${id}`);
    await box.restart();
    t.equal((await postDraftSend(ann, draft.id)).code, 'invalid_message', 'nobody to send it to yet');
    await editDraft(ann, draft.id, { to: [{ address: bob.address }], subject: 'Fwd: Plans (see below)' });
    const receipt = await sendDraft(ann, draft.id);
    const { id: theirs, content: got } = await arrived(bob, receipt);
    t.match(got, { subject: 'Fwd: Plans (see below)', in_reply_to: null, references: null });
    t.same(
      got.attachments.map(({ filename, disposition, content_id, related }) => [
        filename,
        disposition,
        content_id,
        related,
      ]),
      [
        ['chart.png', 'inline', 'chart@far.example', true],
        ['report.pdf', 'attachment', null, false],
      ],
    );
    const [chart, pdf] = got.attachments;
    t.ok((await bob.api.attachment(theirs, chart!)).equals(picture.bytes));
    t.ok((await bob.api.attachment(theirs, pdf!)).equals(report.bytes));
    t.match(got.text, /What do you think\?\s+Sent via Postern\s*$/);
  });

  await t.test('a forward without files, to whom is given, with another subject, without HTML', async t => {
    const id = await receive(letter);
    const source = { action: 'forward', message_id: id };
    const to = [{ address: bob.address }];
    const bare = await createDraft(ann, {
      source: { ...source, include_attachments: false },
      to,
      subject: 'Mine',
    });
    t.match((await readDraft(ann, bare.id)).content, {
      to,
      subject: 'Mine',
      attachments: [],
      text: /^-+ Forwarded/,
    });
    const plain = await createDraft(ann, { source, html: null });
    const { content } = await readDraft(ann, plain.id);
    t.notOk('html' in content);
    t.equal(content.attachments.length, 2);
    const mine = await createDraft(ann, { ...submission(bob.address), source: undefined });
    const { message } = await sendDraft(ann, mine.id);
    const again = await createDraft(ann, { source: { action: 'forward', message_id: message.id }, to });
    t.match(
      (await readDraft(ann, again.id)).content.text,
      /From: ann@example\.org\n[\s\S]*Hello\s+Sent via Postern$/,
    );
  });

  await t.test('a source that cannot be one is told of, and leaves nothing', async t => {
    const id = await receive(letter);
    const trashed = await receive(letter);
    await ann.api.post(`/v1/messages/${trashed}/trash`);
    smarthost.script = { mail: say('550 5.7.1 No') };
    const rejected = (await send(ann, submission('far@far.example'))).message.id;
    smarthost.script = {};
    const many = await receive({
      text: 'Many',
      files: Array.from({ length: 33 }, () => ({ type: 'text/plain', bytes: Buffer.from('x') })),
    });
    const large = await receive({ text: 'Large', files: [{ type: 'a/b', bytes: Buffer.alloc(4_000_000) }] });
    const odd = await receive({
      text: 'a',
      html: 'b',
      files: [{ ...picture, contentId: 'bild-ü@far.example' }],
    });
    const before = (await ann.api.get(`/v1/inboxes/${ann.inboxId}/drafts?limit=100&state=all`)).bytes;
    const refused = async (action: string, message_id: string, who = ann) => {
      const got = await postDraft(who, { source: { action, message_id }, idempotency_key: 'unused' });
      return `${got.status} ${got.code}`;
    };
    for (const action of ['reply', 'reply-all', 'forward']) {
      t.equal(await refused(action, NOWHERE), '404 not_found');
      t.equal(await refused(action, trashed), '404 not_found');
      t.equal(await refused(action, id, other), '404 not_found', 'another inbox');
      t.equal(await refused(action, id, bob), '404 not_found', 'another account');
      t.equal(await refused(action, rejected), '409 reply_not_ready');
    }
    t.equal(await refused('forward', many), '413 message_too_large');
    t.equal(await refused('forward', large), '413 message_too_large');
    t.equal(await refused('forward', odd), '400 invalid_message');
    t.same((await ann.api.get(`/v1/inboxes/${ann.inboxId}/drafts?limit=100&state=all`)).bytes, before);
    t.equal((await postDraft(ann, { idempotency_key: 'unused' })).status, 201, 'the key is unused');
  });

  await t.test(
    'a key recovers the draft before the source is looked at, and tells what was given',
    async t => {
      const id = await receive(letter);
      const source = { action: 'forward', message_id: id };
      const body = { source, text: 'Note', idempotency_key: 'derived' };
      const draft = await createDraft(ann, body);
      await editDraft(ann, draft.id, { text: 'Changed' });
      await ann.api.delete(`/v1/messages/${id}`);
      const again = await postDraft(ann, { ...body, source: { ...source, include_attachments: true } });
      t.equal(again.status, 200);
      t.match(again.json(), { id: draft.id, replayed: true });
      t.equal((await readDraft(ann, draft.id)).content.text, 'Changed');
      for (const change of [
        { source: { ...source, include_attachments: false } },
        { source: { action: 'reply', message_id: id } },
        { source: { ...source, message_id: NOWHERE } },
        { source: undefined },
        { to: [] },
        { subject: '' },
        { text: 'Other' },
      ]) {
        t.equal(
          (await postDraft(ann, { ...body, ...change })).code,
          'idempotency_conflict',
          JSON.stringify(change),
        );
      }
      t.equal((await postDraft(ann, { source, text: 'Note', idempotency_key: 'new' })).code, 'not_found');
    },
  );

  await t.test('saving an answer needs no permission to send', async t => {
    const id = await receive(letter);
    await box.cliJson('account', 'permissions', '--account', ann.email, '--no-send');
    for (const action of ['reply', 'reply-all', 'forward']) {
      t.equal((await postDraft(ann, { source: { action, message_id: id } })).status, 201);
    }
    await box.cliJson('account', 'permissions', '--account', ann.email, '--send');
    t.equal((await answer(ann, 'reply', { message_id: id, text: 'Yes' })).message.status, 'accepted');
  });

  t.match(await box.cliJson('verify'), { sound: true });
});
