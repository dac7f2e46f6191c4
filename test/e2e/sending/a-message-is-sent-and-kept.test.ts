import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import {
  firstReceived,
  postSend,
  quota,
  type Receipt,
  send,
  submission,
} from '../../support/sending/sending.js';

t.test('sending, from the request to the message that its recipient reads', async t => {
  const box = await startBox(t);
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  const eve = await createAgent(box, 'eve');
  await ann.api.patch(`/v1/inboxes/${ann.inboxId}`, { sender_name: 'Ann Lee, Ltd.' });

  await t.test('an accepted message is told of in full and arrives as it was written', async t => {
    const file = randomBytes(100_000);
    const answer = await postSend(ann, {
      to: [{ address: bob.address, name: 'Bob Ünal' }],
      bcc: [{ address: eve.address }],
      subject: 'Zürich – notes',
      text: 'Grüße\nline two',
      html: '<html><body><p>Grüße</p></body></html>',
      attachments: [
        { filename: 'data ü.bin', type: 'application/octet-stream', content: file.toString('base64') },
        { filename: 'empty.txt', type: 'text/plain', content: '' },
      ],
      labels: ['b', ' a ', 'b'],
    });
    t.equal(answer.status, 201);
    const receipt = answer.json<Receipt>();
    const { id, thread_id } = receipt.message;
    t.equal(answer.headers.location, `/v1/sent/${id}`);
    t.match(receipt, {
      limited: false,
      outcome_persisted: true,
      message: {
        inbox_id: ann.inboxId,
        recipient_count: 2,
        status: 'accepted',
        provider_message_id: `<${id}@example.org>`,
        error_code: null,
        in_reply_to: null,
        labels: ['a', 'b'],
      },
    });
    t.match(thread_id, /^[a-f0-9-]{36}$/);
    t.notOk('replayed' in receipt || 'idempotency_expires_at' in receipt, 'not keyed');

    const received = await bob.api.content(await firstReceived(bob));
    t.match(received, {
      from: { name: 'Ann Lee, Ltd.', address: ann.address },
      to: [{ name: 'Bob Ünal', address: bob.address }],
      cc: [],
      bcc: [],
      subject: 'Zürich – notes',
      message_id: `<${id}@example.org>`,
      date: `${receipt.message.created_at.slice(0, 19)}.000Z`,
    });
    t.equal(received.text?.trimEnd(), 'Grüße\nline two\n\nSent via Postern');
    t.match(received.html, /<p>Grüße<\/p><p>Sent via Postern<\/p>\s*<\/body>/);
    const [first] = received.attachments;
    if (first === undefined) throw new Error('no attachment arrived');
    t.same(
      received.attachments.map(({ filename, size }) => [filename, size]),
      [
        ['data ü.bin', 100_000],
        ['empty.txt', 0],
      ],
    );
    const raw = await bob.api.raw(await firstReceived(bob));
    t.ok((await bob.api.attachment(await firstReceived(bob), first)).equals(file), 'bytes of the file');
    t.notOk(raw.includes(eve.address), 'Bcc is in no transmitted byte');
    t.ok(
      (await eve.api.raw(await firstReceived(eve))).equals(raw),
      'the hidden recipient got the same bytes',
    );

    const detail = (await ann.api.get(`/v1/sent/${id}`)).json<Record<string, unknown>>();
    t.same(detail, {
      ...receipt.message,
      reply_text: 'Grüße\nline two',
      submission: {
        from: { address: ann.address, name: 'Ann Lee, Ltd.' },
        to: [{ address: bob.address, name: 'Bob Ünal' }],
        cc: [],
        bcc: [{ address: eve.address }],
        subject: 'Zürich – notes',
        text: 'Grüße\nline two\n\nSent via Postern',
        html: '<html><body><p>Grüße</p><p>Sent via Postern</p>\n</body></html>',
        attachments: [
          {
            filename: 'data ü.bin',
            type: 'application/octet-stream',
            content: file.toString('base64'),
            disposition: 'attachment',
          },
          { filename: 'empty.txt', type: 'text/plain', content: '', disposition: 'attachment' },
        ],
      },
    });
    t.match(await quota(ann.api), { allowance: 25, used: 2, remaining: 23, next_capacity_amount: 2 });
  });

  await t.test('a reply names what it answers, and joins its conversation on both sides', async t => {
    const theirs = await firstReceived(bob);
    const { thread_id, message_id } = await bob.api.detail(theirs);
    const answer = await send(bob, submission(ann.address, { subject: 'Re: notes', in_reply_to: theirs }));
    t.equal(answer.message.thread_id, thread_id);
    t.equal(answer.message.in_reply_to, theirs);
    const detail = (await bob.api.get(`/v1/sent/${answer.message.id}`)).json<{ submission: object }>();
    t.match(detail.submission, { headers: { 'In-Reply-To': message_id, References: message_id } });
    const arrived = await firstReceived(ann);
    t.match(await ann.api.content(arrived), { in_reply_to: message_id, references: message_id });
    const sent = (await ann.api.get(`/v1/inboxes/${ann.inboxId}/sent`)).json<{
      messages: { thread_id: string }[];
    }>();
    t.equal((await ann.api.detail(arrived)).thread_id, sent.messages[0]?.thread_id);

    const again = await send(ann, submission(bob.address, { in_reply_to: arrived }));
    const headers = (await ann.api.get(`/v1/sent/${again.message.id}`)).json<{
      submission: { headers: { References: string } };
    }>().submission.headers;
    t.equal(headers.References, `${message_id} <${answer.message.id}@example.org>`, 'references add up');
  });

  await t.test('sent copies are listed, labelled, trashed, restored and deleted like mail', async t => {
    const list = async (query = '') =>
      (await ann.api.get(`/v1/inboxes/${ann.inboxId}/sent${query}`)).json<{
        messages: { id: string; labels: string[] }[];
        next_cursor: string | null;
      }>();
    const [newest, oldest] = (await list()).messages;
    if (newest === undefined || oldest === undefined) throw new Error('two were sent');
    const first = await list('?limit=1');
    t.equal(first.messages[0]?.id, newest.id);
    t.equal((await list(`?limit=1&cursor=${first.next_cursor}`)).messages[0]?.id, oldest.id);
    t.same(
      (await list('?labels_all=a&labels_none=c')).messages.map(({ id }) => id),
      [oldest.id],
    );
    t.same(
      (await list(`?recipient=${eve.address}`)).messages.map(({ id }) => id),
      [oldest.id],
      'Bcc is searched',
    );
    t.same(
      (await list('?order=oldest')).messages.map(({ id }) => id),
      [oldest.id, newest.id],
    );

    const one = await ann.api.patch(`/v1/sent/${newest.id}`, { add_labels: ['c'] });
    t.same(one.json(), { id: newest.id, labels: ['c'] });
    const both = { message_ids: [newest.id, oldest.id], add_labels: ['d'], remove_labels: ['a'] };
    t.same((await ann.api.patch('/v1/sent/labels', both)).json(), {
      messages: [
        { id: newest.id, labels: ['c', 'd'] },
        { id: oldest.id, labels: ['b', 'd'] },
      ],
    });
    t.equal(
      (await ann.api.patch('/v1/messages/labels', both)).status,
      404,
      'not at the end for received mail',
    );
    t.same((await ann.api.get(`/v1/inboxes/${ann.inboxId}/labels`)).json<{ labels: object[] }>().labels, [
      { name: 'b', received_count: 0, sent_count: 1 },
      { name: 'c', received_count: 0, sent_count: 1 },
      { name: 'd', received_count: 0, sent_count: 2 },
    ]);

    t.match((await ann.api.post(`/v1/sent/${newest.id}/trash`)).json(), { status: 'trashed' });
    t.equal((await ann.api.get(`/v1/sent/${newest.id}`)).status, 404);
    t.match((await ann.api.get(`/v1/inboxes/${ann.inboxId}/trash`)).json(), {
      messages: [{ id: newest.id, kind: 'sent', subject: 'Notes', to: [{ address: bob.address }] }],
    });
    t.equal((await list()).messages.length, 1);
    t.match((await ann.api.post(`/v1/sent/${newest.id}/restore`)).json(), { status: 'restored' });
    t.equal((await ann.api.get(`/v1/sent/${newest.id}`)).status, 200);
    t.match((await ann.api.delete(`/v1/sent/${newest.id}`)).json(), {
      id: newest.id,
      status: 'deletion_pending',
    });
    t.equal((await ann.api.delete(`/v1/sent/${newest.id}`)).status, 404);
    t.equal((await ann.api.get(`/v1/sent/${oldest.id}`)).status, 200);
    t.equal((await bob.api.get(`/v1/sent/${oldest.id}`)).code, 'not_found', 'nobody else sees it');
    t.match(await quota(ann.api), { used: 3 }, 'deleting refunds nothing');
  });

  t.match(await box.cliJson('verify'), { sound: true }, 'the store agrees with itself');
});
