import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { ReceivedAttachment as AttachmentMetadata } from '../../../src/contract/messages.js';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { sha256 } from '../../support/letters/letters.js';
import { type LetterFile, mimeLetter } from '../../support/letters/mime-letter.js';
import { answer, arrived, postHelper, submissionOf } from '../../support/sending/correspondence.js';
import { postSend, send, submission } from '../../support/sending/sending.js';
import { deliver } from '../../support/smtp/deliver.js';

/** Names, types, sizes, places and bytes of the files of a message, as its reader gets them. */
async function filesOf(reader: TestAgent, id: string, files: readonly AttachmentMetadata[]) {
  const seen = [];
  for (const file of files) {
    const hash = sha256(await reader.api.attachment(id, file));
    const { filename, mime_type, size, disposition, content_id, related } = file;
    seen.push({ filename, mime_type, size, disposition, content_id, related, hash });
  }
  return seen;
}

t.test('forwards, from the message that is passed on to the one that arrives', async t => {
  const box = await startBox(t, { env: { POSTERN_LIMITS_SENDS: '1000' } });
  const ann = await createAgent(box, 'ann');
  const bob = await createAgent(box, 'bob');
  const cy = await createAgent(box, 'cy');
  const receive = async (letter: Parameters<typeof mimeLetter>[0]) => {
    const id = await deliver(box, ann.address, mimeLetter(letter));
    await ann.api.finished(id);
    return id;
  };
  const to = [{ address: bob.address }];

  const picture = randomBytes(70_000);
  const report = randomBytes(200_003);
  const original = {
    headers: {
      From: '=?utf-8?q?Zo=C3=AB?= <zoe@far.example>',
      To: `Ann <${ann.address}>, other@far.example`,
      Cc: 'copied@far.example',
      Bcc: 'hidden@far.example',
      Subject: 'Quarterly numbers',
      Date: 'Fri, 27 Nov 2026 10:00:00 +0100',
      'Message-ID': '<numbers@far.example>',
      References: '<older@far.example>',
    },
    text: 'See the chart.\n\n> What did we sell?\n',
    html: '<html><body><p>See <img src="cid:chart@far.example"></p><blockquote>What did we sell?</blockquote></body></html>',
    files: [
      {
        filename: 'chart.png',
        type: 'image/png',
        bytes: picture,
        disposition: 'inline',
        contentId: 'chart@far.example',
      },
      { filename: 'report.pdf', type: 'application/pdf', bytes: report },
      { filename: 'empty.txt', type: 'text/plain', bytes: Buffer.alloc(0) },
    ] satisfies LetterFile[],
  };
  const FILES = [
    {
      filename: 'chart.png',
      mime_type: 'image/png',
      size: 70_000,
      disposition: 'inline',
      content_id: 'chart@far.example',
      related: true,
      hash: sha256(picture),
    },
    {
      filename: 'report.pdf',
      mime_type: 'application/pdf',
      size: 200_003,
      disposition: 'attachment',
      content_id: null,
      related: false,
      hash: sha256(report),
    },
    {
      filename: 'empty.txt',
      mime_type: 'text/plain',
      size: 0,
      disposition: 'attachment',
      content_id: null,
      related: false,
      hash: sha256(Buffer.alloc(0)),
    },
  ];

  await t.test('bodies, files and embedded pictures come through byte for byte, Bcc does not', async t => {
    const id = await receive(original);
    const got = await answer(ann, 'forward', {
      message_id: id,
      to: [{ address: bob.address, name: 'Bob' }, { address: bob.address }],
      bcc: [{ address: cy.address }],
      note: 'For <you>.\nAnn',
      labels: ['passed on'],
    });
    t.match(got.message, {
      status: 'accepted',
      in_reply_to: null,
      recipient_count: 3,
      labels: ['passed on'],
    });
    const { id: theirs, content } = await arrived(bob, got);
    t.match(content, {
      from: { address: ann.address },
      to: [{ address: bob.address, name: 'Bob' }, { address: bob.address }],
      cc: [],
      bcc: [],
      subject: 'Fwd: Quarterly numbers',
      in_reply_to: null,
      references: null,
    });
    const header = [
      '---------- Forwarded message ----------',
      'From: Zoë <zoe@far.example>',
      'Date: Fri, 27 Nov 2026 09:00:00 +0000',
      'Subject: Quarterly numbers',
      `To: Ann <${ann.address}>, other@far.example`,
      'Cc: copied@far.example',
    ].join('\n');
    t.equal(
      content.text?.trimEnd(),
      `For <you>.\nAnn\n\n${header}\n\nSee the chart.\n\n> What did we sell?\n\nSent via Postern`,
    );
    t.match(content.html, /<body>\s*<p>For &lt;you&gt;\.<br>\s*Ann<\/p>\s*<p>---------- Forwarded message/);
    t.match(content.html, /<img src="cid:chart@far\.example">/, 'the picture is shown by its Content-ID');
    t.match(content.html, /What did we sell\?<\/blockquote><p>Sent via Postern<\/p>\s*<\/body>/);
    t.notOk((await bob.api.raw(theirs)).includes('hidden@far.example'), 'Bcc of the original is nowhere');
    t.same(await filesOf(bob, theirs, content.attachments), FILES);
    t.same(
      (await submissionOf(ann, got.message.id)).attachments.map(({ content: base64, ...file }) => [
        file,
        sha256(Buffer.from(base64, 'base64')),
      ]),
      [
        [
          { filename: 'chart.png', type: 'image/png', disposition: 'inline', contentId: 'chart@far.example' },
          sha256(picture),
        ],
        [{ filename: 'report.pdf', type: 'application/pdf', disposition: 'attachment' }, sha256(report)],
        [{ filename: 'empty.txt', type: 'text/plain', disposition: 'attachment' }, sha256(Buffer.alloc(0))],
      ],
    );
    t.ok((await arrived(cy, got)).id, 'the hidden recipient got it');

    await t.test('and so they do when the recipient forwards it again', async t => {
      const next = await answer(bob, 'forward', {
        message_id: theirs,
        to: [{ address: cy.address }],
        note: 'Look',
      });
      const again = await arrived(cy, next);
      t.equal(again.content.subject, 'Fwd: Quarterly numbers', 'no second prefix');
      t.match(again.content.text, /^Look\n\n-+ Forwarded message -+\nFrom: ann@example\.org\n/);
      t.match(again.content.text, /Sent via Postern\n+Sent via Postern\s*$/, 'the old attribution is kept');
      t.match(again.content.html, /<img src="cid:chart@far\.example">/);
      t.same(await filesOf(cy, again.id, again.content.attachments), FILES);
    });

    await t.test('also from the copy that its sender kept', async t => {
      const next = await answer(ann, 'forward', {
        message_id: got.message.id,
        to: [{ address: cy.address }],
      });
      const again = await arrived(cy, next);
      t.not(next.message.thread_id, got.message.thread_id, 'a conversation of its own');
      t.match(
        again.content.text,
        new RegExp(`From: ${ann.address}\nDate: .* \\+0000\nSubject: Fwd: Quarterly numbers\nTo: Bob`),
      );
      t.notMatch(again.content.text, new RegExp(cy.address), 'Bcc of the copy is not told');
      t.same(await filesOf(cy, again.id, again.content.attachments), FILES);
    });
  });

  await t.test('without its files there is none of them', async t => {
    const id = await receive(original);
    const got = await answer(ann, 'forward', { message_id: id, to, include_attachments: false });
    const { content } = await arrived(bob, got);
    t.same(content.attachments, []);
    t.match(content.html, /cid:chart@far\.example/, 'HTML is kept as it is');
    t.match(content.text, /^-+ Forwarded message/, 'no note, no blank before the header block');
  });

  await t.test('of HTML alone there is a text, not rendered', async t => {
    const html = '<h1>Offer</h1><p>Only <b>today</b> &amp; tomorrow</p><img src="https://far.example/x.png">';
    const id = await receive({ headers: { Subject: 'FW: Offer' }, html });
    t.equal((await ann.api.content(id)).text, null);
    const { content } = await arrived(
      bob,
      await answer(ann, 'forward', { message_id: id, to, note: 'Well?' }),
    );
    t.equal(content.subject, 'FW: Offer');
    t.match(content.text, /^Well\?\n\n-+ Forwarded message[\s\S]*\n\nOffer\s+Only today & tomorrow/);
    t.match(content.html, html.replace('&amp;', '&amp;'));
    const bare = await receive({ headers: { Subject: '', From: '' } });
    const empty = await arrived(bob, await answer(ann, 'forward', { message_id: bare, to }));
    t.match(empty.content, {
      subject: 'Fwd: (no subject)',
      text: /From: \(unknown\)\nSubject: \(no subject\)/,
    });
  });

  await t.test('names and types that cannot be transmitted get safe ones', async t => {
    const bytes = Buffer.from('x');
    const files: LetterFile[] = [
      { type: 'image/jpeg', bytes },
      { filename: '../../etc/passwd', type: 'application/x~y', bytes },
      { filename: 'letter.eml', type: 'application/x;y z', bytes },
      { filename: `${'n'.repeat(300)}.pdf`, type: 'application/pdf', bytes },
    ];
    const id = await receive({ text: 'Files', files });
    const { content } = await arrived(bob, await answer(ann, 'forward', { message_id: id, to }));
    t.same(
      content.attachments.map(({ filename, mime_type }) => [filename, mime_type]),
      [
        ['attachment-1.jpg', 'image/jpeg'],
        ['passwd', 'application/octet-stream'],
        ['letter.eml', 'application/x'],
        [`${'n'.repeat(251)}.pdf`, 'application/pdf'],
      ],
    );
  });

  await t.test(
    'a Content-ID that cannot be given again is refused, unless its file stays behind',
    async t => {
      const file: LetterFile = {
        filename: 'a.png',
        type: 'image/png',
        bytes: Buffer.from('x'),
        disposition: 'inline',
        contentId: 'bild-ü@far.example',
      };
      const id = await receive({ text: 'A', html: '<img src="cid:bild-ü@far.example">', files: [file] });
      t.equal((await ann.api.content(id)).attachments[0]?.content_id, 'bild-ü@far.example');
      const refused = await postHelper(ann, 'forward', { message_id: id, to });
      t.same([refused.status, refused.code], [400, 'invalid_message']);
      t.match(await answer(ann, 'forward', { message_id: id, to, include_attachments: false }), {
        message: { status: 'accepted' },
      });
    },
  );

  await t.test('32 files go, 33 do not, and none is dropped', async t => {
    const files = (count: number) =>
      Array.from(
        { length: count },
        (_, n): LetterFile => ({ filename: `${n}.txt`, type: 'text/plain', bytes: Buffer.from(`${n}`) }),
      );
    const fits = await receive({ text: 'Many', files: files(32) });
    const { content } = await arrived(bob, await answer(ann, 'forward', { message_id: fits, to }));
    t.same(
      content.attachments.map(({ filename }) => filename),
      files(32).map(({ filename }) => filename),
    );
    const over = await receive({ text: 'Too many', files: files(33) });
    const refused = await postHelper(ann, 'forward', { message_id: over, to });
    t.same([refused.status, refused.code], [413, 'message_too_large']);
    t.equal(
      (await answer(ann, 'forward', { message_id: over, to, include_attachments: false })).message.status,
      'accepted',
    );
  });

  await t.test('what does not fit with its files is refused, and fits without them', async t => {
    const file = (bytes: number): LetterFile => ({
      filename: 'a.bin',
      type: 'application/octet-stream',
      bytes: Buffer.alloc(bytes, 1),
    });
    const id = await receive({ text: 'Large', files: [file(4_000_000)] });
    const refused = await postHelper(ann, 'forward', { message_id: id, to });
    t.same([refused.status, refused.code], [413, 'message_too_large']);
    t.equal(
      (await answer(ann, 'forward', { message_id: id, to, include_attachments: false })).message.status,
      'accepted',
    );
    // The sum fits, the generated message with its line ends does not.
    const near = await receive({ text: 'Near', files: [file(3_900_000)] });
    t.equal((await postHelper(ann, 'forward', { message_id: near, to })).code, 'message_too_large');
    const fits = await receive({ text: 'Fits', files: [file(3_700_000)] });
    const { id: theirs, content } = await arrived(
      bob,
      await answer(ann, 'forward', { message_id: fits, to }),
    );
    const [got] = content.attachments;
    t.ok((await bob.api.attachment(theirs, got!)).equals(Buffer.alloc(3_700_000, 1)));
    const text = await receive({ text: 'x'.repeat(6 * 2 ** 20) });
    t.equal((await postHelper(ann, 'forward', { message_id: text, to })).code, 'message_too_large');
  });

  await t.test('a note may be all that is long', async t => {
    const id = await receive({ text: 'Short' });
    const note = `${'é'.repeat(500_000)}\n`;
    const { content } = await arrived(bob, await answer(ann, 'forward', { message_id: id, to, note }));
    t.ok(content.text?.startsWith(note.trimEnd()));
    const long = 'x'.repeat(5 * 2 ** 20);
    t.equal((await postHelper(ann, 'forward', { message_id: id, to, note: long })).code, 'message_too_large');
  });

  await t.test(
    'a forward begins a conversation, also when the answer of its recipient comes back',
    async t => {
      const { message } = await send(ann, submission(bob.address, { subject: 'Start' }));
      const got = await answer(ann, 'forward', { message_id: message.id, to });
      t.not(got.message.thread_id, message.thread_id);
      const theirs = await arrived(bob, got);
      const back = await answer(bob, 'reply', { message_id: theirs.id, text: 'Thanks' });
      t.match((await arrived(ann, back)).content, {
        in_reply_to: got.message.provider_message_id,
        subject: 'Re: Fwd: Start',
      });
    },
  );

  t.equal((await postSend(ann, submission(bob.address))).status, 201);
  t.match(await box.cliJson('verify'), { sound: true });
});
