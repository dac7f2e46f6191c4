import t, { type Test } from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { mimeLetter } from '../../support/letters/mime-letter.js';
import { answer, arrived, postHelper, submissionOf } from '../../support/sending/correspondence.js';
import { send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { deliver } from '../../support/smtp/deliver.js';

/*
 * What users of other mail systems have reported, from the letter that comes in by SMTP to what goes out: answers in the
 * wrong conversation or to the wrong people, forwards without their words, pictures or files.
 */
t.test('what went wrong elsewhere goes right here', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000' });
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  const second = await createInbox(ann, 'second');

  const take = async (raw: Buffer | string) => {
    const id = await deliver(box, ann.address, raw);
    await ann.api.finished(id);
    return id;
  };
  const receive = (headers: Record<string, string>) => take(mimeLetter({ headers, text: 'Hello' }));
  const threadOf = async (headers: Record<string, string>) =>
    (await ann.api.detail(await receive(headers))).thread_id;
  const repliedTo = async (helper: 'reply' | 'reply-all', headers: Record<string, string>) => {
    const got = await answer(ann, helper, { message_id: await receive(headers), text: 'Yes' });
    const { to, cc, subject } = await submissionOf(ann, got.message.id);
    const [toAll, ccAll] = [to, cc].map(list => list.map(({ address }) => address));
    return { to: toAll, cc: ccAll, subject };
  };
  /** As the recipient of the forward reads it. */
  const forwarded = async (raw: Buffer | string) => {
    const body = { message_id: await take(raw), to: [{ address: bob.address }], note: 'Look:' };
    const { id, content } = await arrived(bob, await answer(ann, 'forward', body));
    return { id, ...content };
  };
  const FAR = 'Zoe <zoe@far.example>';

  const CLAIMS: Readonly<Record<string, (t: Test) => Promise<unknown>>> = {
    'an answer joins the conversation that it names, though all else is of another': async t => {
      const first = await threadOf({ From: FAR, Subject: 'Order', 'Message-ID': '<1a@far.example>' });
      const other = await threadOf({ From: FAR, Subject: 'Bill', 'Message-ID': '<1b@far.example>' });
      t.not(first, other);
      t.equal(await threadOf({ From: FAR, Subject: 'Re: Bill', 'In-Reply-To': '<1a@far.example>' }), first);
    },
    'an answer with another subject stays in its conversation': async t => {
      const { message } = await send(ann, submission('zoe@far.example'));
      const asked = { Subject: 'Something else', 'In-Reply-To': `${message.provider_message_id}` };
      t.equal(await threadOf(asked), message.thread_id);
    },
    'an answer to a reply whose id was rewritten on the way joins by the References': async t => {
      const id = await receive({ From: FAR, 'Message-ID': '<3a@far.example>' });
      await answer(ann, 'reply', { message_id: id, text: 'Yes' });
      const wire = smarthost.submissions.at(-1)?.content.toString('latin1') ?? '';
      const [, references = ''] = /^References: (.*)\r$/m.exec(wire) ?? [];
      const late = { 'In-Reply-To': '<new@relay.example>', References: `${references} <new@relay.example>` };
      t.equal(await threadOf(late), (await ann.api.detail(id)).thread_id);
    },
    'strangers who name an address beside the id share no conversation': async t => {
      const naming = (id: string) => ({
        'In-Reply-To': `"Desk" <desk@far.example> wrote on Monday <${id}@far.example>`,
      });
      t.not(await threadOf(naming('4a')), await threadOf(naming('4b')));
      t.equal(await threadOf(naming('4a')), await threadOf(naming('4a')), 'the id itself counts');
    },
    'two addresses in Reply-To are both answered, and not From': async t => {
      const headers = {
        From: FAR,
        'Reply-To': 'one@far.example, Two <two@far.example>',
        To: `${ann.address}, three@far.example`,
        Cc: 'four@far.example',
      };
      t.match(await repliedTo('reply-all', headers), {
        to: ['one@far.example', 'two@far.example', 'three@far.example'],
        cc: ['four@far.example'],
      });
    },
    'a Reply-To without an address is none': async t => {
      for (const broken of ['nobody', 'Desk of sales', '<>', ';', 'undisclosed-recipients:;']) {
        const { to } = await repliedTo('reply', { From: FAR, 'Reply-To': broken });
        t.same(to, ['zoe@far.example'], broken);
      }
    },
    'the own address in capitals is the own address, and RE: is not doubled': async t => {
      const headers = { From: FAR, To: ann.address.toUpperCase(), Subject: 'RE: Order' };
      const got = await repliedTo('reply-all', headers);
      t.same(got, { to: ['zoe@far.example'], cc: [], subject: 'RE: Order' });
    },
    'a reply to all goes to those in the header, not to the envelope': async t => {
      const headers = { From: FAR, To: 'list@far.example, LIST@far.example', Cc: 'zoe@far.example' };
      t.match(await repliedTo('reply-all', headers), { to: ['zoe@far.example', 'list@far.example'], cc: [] });
    },
    'a Reply-To of another inbox of the account is followed': async t => {
      const { to } = await repliedTo('reply', { From: FAR, 'Reply-To': second.address });
      t.same(to, [second.address]);
    },
    'recipients with domains in other letters are answered in their ASCII form': async t => {
      const headers = { From: FAR, Cc: 'Jörg <joerg@bücher.example>, ivan@почта.рф, x@my_host.example' };
      t.match(await repliedTo('reply-all', headers), {
        cc: ['joerg@xn--bcher-kva.example', 'ivan@xn--80a1acny.xn--p1ai', 'x@my_host.example'],
      });
    },
    'dots anywhere make an address, given or derived': async t => {
      await send(ann, submission('a..b@docomo.example'));
      t.same(smarthost.submissions.at(-1)?.recipients, ['a..b@docomo.example']);
      t.match(await repliedTo('reply', { From: 'abc.@docomo.example' }), { to: ['abc.@docomo.example'] });
      t.same(smarthost.submissions.at(-1)?.recipients, ['abc.@docomo.example']);
    },
    'whoever cannot be written to is named, and nobody is left out in silence': async t => {
      const seen = smarthost.submissions.length;
      for (const odd of ['"odd user"@far.example', 'root@[192.0.2.1]', `${'l'.repeat(65)}@far.example`]) {
        const message_id = await receive({ From: FAR, Cc: odd });
        const got = await postHelper(ann, 'reply-all', { message_id, text: 'Yes' });
        const draft = await ann.api.post(`/v1/inboxes/${ann.inboxId}/drafts`, {
          source: { action: 'reply-all', message_id },
        });
        for (const { status, bytes } of [got, draft]) {
          const { error } = JSON.parse(bytes.toString()) as { error: { code: string; message: string } };
          t.same([status, error.code], [409, 'reply_recipients_unavailable'], odd);
          t.ok(error.message.includes(odd) && error.message.includes('in_reply_to'), error.message);
        }
      }
      t.equal(smarthost.submissions.length, seen);
    },
    'a picture without Content-Disposition stays embedded': async t => {
      const got = await forwarded(
        related('<img src="cid:p@x">', ['Content-ID: <p@x>', 'Content-Type: image/png']),
      );
      t.match(got.html, /<img src="cid:p@x">/);
      t.match(got.attachments, [{ content_id: 'p@x', related: true, mime_type: 'image/png' }]);
    },
    'a picture that is shown by its name stays as it is': async t => {
      const type = 'Content-Type: image/png; name="p.png"';
      const got = await forwarded(related('<img src="p.png">', [type, 'Content-Disposition: inline']));
      t.match(got.html, /<img src="p\.png">/);
      t.match(got.attachments, [{ filename: 'p.png', mime_type: 'image/png' }]);
    },
    'the words of the HTML stand in for a text of white space': async t => {
      for (const text of [' \r\n ', '\u00a0\u200b']) {
        const got = await forwarded(mimeLetter({ text, html: '<p>The words</p>' }));
        t.match(got.text, /Forwarded message(?:.|\n)*The words/);
        t.match(got.html, /<p>The words<\/p>/);
      }
    },
    'a text alone is forwarded as text alone': async t => {
      const got = await forwarded(mimeLetter({ text: 'Only words' }));
      t.match(got, { text: /^Look:(?:.|\n)*Forwarded message(?:.|\n)*Only words/, html: null });
    },
    'attached messages all arrive byte for byte': async t => {
      const letters = ['one', 'two', 'thr\xe9e'].map(word =>
        Buffer.from(`Subject: ${word}\r\n\r\n${word}\r\n`, 'latin1'),
      );
      const got = await forwarded(withMessages(letters));
      t.same(
        got.attachments.map(({ mime_type }) => mime_type),
        ['message/rfc822', 'message/rfc822', 'application/octet-stream'],
        'as a message where no relay has to change it',
      );
      for (const [at, letter] of letters.entries()) {
        t.ok((await bob.api.attachment(got.id, got.attachments[at]!)).equals(letter), `number ${at}`);
      }
    },
    'a Content-ID with a space still matches its link': async t => {
      const got = await forwarded(
        related('<img src="cid:my pic@x">', ['Content-ID: < my pic@x >', 'Content-Type: image/png']),
      );
      t.match(got.html, /<img src="cid:my pic@x">/);
      t.match(got.attachments, [{ content_id: 'my pic@x', related: true }]);
    },
  };

  for (const [claim, check] of Object.entries(CLAIMS)) await t.test(claim, check);
  t.comment(`${Object.keys(CLAIMS).length} claims`);
});

const HEAD = 'From: Zoe <zoe@far.example>\r\nSubject: Files\r\nMIME-Version: 1.0\r\n';

function related(html: string, fileFields: readonly string[]): string {
  return [
    `${HEAD}Content-Type: multipart/related; boundary=r`,
    '',
    '--r',
    'Content-Type: text/html',
    '',
    html,
    '--r',
    ...fileFields,
    'Content-Transfer-Encoding: base64',
    '',
    'iVBORw0KGgo=',
    '--r--',
    '',
  ].join('\r\n');
}

function withMessages(letters: readonly Buffer[]): Buffer {
  const parts = letters.map(letter =>
    Buffer.concat([Buffer.from('--m\r\nContent-Type: message/rfc822\r\n\r\n'), letter, Buffer.from('\r\n')]),
  );
  return Buffer.concat([
    Buffer.from(`${HEAD}Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\nSee them.\r\n`),
    ...parts,
    Buffer.from('--m--\r\n'),
  ]);
}
