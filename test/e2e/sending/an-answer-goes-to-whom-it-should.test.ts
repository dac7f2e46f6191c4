import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { answer, arrived, submissionOf } from '../../support/sending/correspondence.js';
import { send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test('replies and replies to all, from the message that is answered to the one that arrives', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000' });
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  const second = await createInbox(ann, 'second');
  const receive = async (headers: Record<string, string>, text = 'Hello') => {
    const id = await deliver(box, ann.address, mimeLetter({ headers, text }));
    await ann.api.finished(id);
    return id;
  };

  await t.test(
    'a received message is answered to Reply-To, with its headers and nothing else of it',
    async t => {
      const id = await receive(
        {
          From: '=?utf-8?q?Zo=C3=AB?= <zoe@far.example>',
          'Reply-To': '"Desk, the" <desk@far.example>, Team: cy@far.example, DESK@far.example;',
          To: `${ann.address}, other@far.example`,
          Cc: 'copied@far.example',
          Subject: 'Grüße',
          'Message-ID': '<third@far.example>',
          'In-Reply-To': '<second@far.example>',
          References: '<first@far.example>\r\n <second@far.example>',
        },
        'What do you think?',
      );
      const got = await answer(ann, 'reply', {
        message_id: id,
        text: 'Good.\n',
        html: '<p>Good.</p>',
        attachments: [{ filename: 'a.txt', type: 'text/plain', content: 'QQ==' }],
        labels: ['answered'],
      });
      t.match(got, {
        outcome_persisted: true,
        message: { status: 'accepted', in_reply_to: id, recipient_count: 2, labels: ['answered'] },
      });
      t.same((await ann.api.detail(id)).labels, [], 'labels are those of the reply alone');
      t.same(await submissionOf(ann, got.message.id), {
        from: { address: ann.address },
        to: [{ address: 'desk@far.example', name: 'Desk, the' }, { address: 'cy@far.example' }],
        cc: [],
        bcc: [],
        subject: 'Re: Grüße',
        text: 'Good.\n\nSent via Postern',
        html: '<p>Good.</p><p>Sent via Postern</p>\n',
        attachments: [{ filename: 'a.txt', type: 'text/plain', content: 'QQ==', disposition: 'attachment' }],
        headers: {
          'In-Reply-To': '<third@far.example>',
          References: '<first@far.example> <second@far.example> <third@far.example>',
        },
      });
      const [sent] = smarthost.submissions.slice(-1);
      t.same([sent?.from, sent?.recipients], [ann.address, ['desk@far.example', 'cy@far.example']]);
      const wire = sent?.content.toString('latin1') ?? '';
      t.match(wire, /^In-Reply-To: <third@far\.example>\r$/m);
      t.match(wire, /^References: <first@far\.example> <second@far\.example>\s+<third@far\.example>\r$/m);
      t.notMatch(wire, /What do you think|copied@far|other@far/);
    },
  );

  await t.test('without Reply-To it goes to From, and a subject gets its Re: once', async t => {
    for (const [subject, expected] of [
      ['Plans', 'Re: Plans'],
      ['re : Plans', 're : Plans'],
      ['RE: Plans', 'RE: Plans'],
      ['Reply', 'Re: Reply'],
      ['', 'Re: (no subject)'],
    ] as const) {
      const id = await receive({ From: 'Zoe <zoe@far.example>', Subject: subject });
      const got = await answer(ann, 'reply', { message_id: id, text: 'Yes' });
      const { to, cc, subject: made } = await submissionOf(ann, got.message.id);
      t.same([to, cc, made], [[{ address: 'zoe@far.example', name: 'Zoe' }], [], expected]);
    }
  });

  await t.test('a reply to all goes to everyone once, but not to the inbox that answers', async t => {
    const id = await receive({
      From: 'zoe@far.example',
      To: `ZOE@far.example, ${ann.address.toUpperCase()}, Other <other@far.example>, ${second.address}`,
      Cc: `other@far.example, Copied <copied@far.example>, ${ann.address}`,
      Bcc: 'hidden@far.example',
    });
    const got = await answer(ann, 'reply-all', { message_id: id, text: 'Yes' });
    t.match(await submissionOf(ann, got.message.id), {
      to: [
        { address: 'zoe@far.example' },
        { address: 'other@far.example', name: 'Other' },
        { address: second.address },
      ],
      cc: [{ address: 'copied@far.example', name: 'Copied' }],
      bcc: [],
    });
    const inSecond = await arrived({ ...ann, inboxId: second.id, address: second.address }, got);
    t.match(inSecond.content.to.length, 3, 'another inbox of the account is a recipient like any');
  });

  await t.test('where only a copied one is left, the first is addressed', async t => {
    const id = await receive({ From: ann.address, To: ann.address, Cc: 'one@far.example, two@far.example' });
    const got = await answer(ann, 'reply-all', { message_id: id, text: 'Yes' });
    t.match(await submissionOf(ann, got.message.id), {
      to: [{ address: 'one@far.example' }],
      cc: [{ address: 'two@far.example' }],
    });
  });

  await t.test('what one sent is answered to its recipients, never to those it was hidden from', async t => {
    const first = await send(ann, {
      ...submission('one@far.example'),
      to: [{ address: 'one@far.example', name: 'One' }, { address: bob.address }],
      cc: [{ address: 'two@far.example' }],
      bcc: [{ address: 'hidden@far.example' }],
      subject: 'Plans',
    });
    const [mid] = [first.message.provider_message_id];
    for (const [helper, cc] of [
      ['reply', []],
      ['reply-all', [{ address: 'two@far.example' }]],
    ] as const) {
      const got = await answer(ann, helper, { message_id: first.message.id, text: 'And another thing' });
      t.match(got.message, { in_reply_to: first.message.id, thread_id: first.message.thread_id });
      const made = await submissionOf(ann, got.message.id);
      t.same(made.to, [{ address: 'one@far.example', name: 'One' }, { address: bob.address }]);
      t.same([made.cc, made.bcc, made.subject], [cc, [], 'Re: Plans']);
      t.same(made.headers, { 'In-Reply-To': mid, References: mid });
      t.match((await arrived(bob, got)).content, { in_reply_to: mid, references: mid, subject: 'Re: Plans' });
    }
  });

  await t.test('references grow from answer to answer, on both sides', async t => {
    let ids = '';
    let [from, to] = [ann, bob];
    let received = (await arrived(bob, await send(ann, submission(bob.address, { subject: 'Rounds' })))).id;
    for (let round = 0; round < 4; round++) {
      [from, to] = [to, from];
      const { message_id } = await from.api.content(received);
      ids = ids === '' ? `${message_id}` : `${ids} ${message_id}`;
      const got = await answer(from, 'reply', { message_id: received, text: `Round ${round}` });
      const next = await arrived(to, got);
      t.match(next.content, { in_reply_to: message_id, references: ids, subject: 'Re: Rounds' });
      received = next.id;
    }
  });

  t.match(await box.cliJson('verify'), { sound: true });
});
