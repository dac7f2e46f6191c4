import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import MailComposer, { type MailComposerOptions } from 'nodemailer/lib/mail-composer';
import { encodeWord, quoteString } from 'nodemailer/lib/mime-funcs';
import t from 'tap';

/** What src/mail/write relies on in nodemailer's MailComposer, its nodes, and the functions that write words. */

const ID = '0190a3a0-0000-7000-8000-000000000001';

const compile = (options: MailComposerOptions) =>
  new MailComposer({
    from: 'a@b.example',
    to: 'c@d.example',
    subject: 'Hello',
    messageId: '<m@b.example>',
    date: new Date(0),
    boundaryPrefix: '=_',
    baseBoundary: ID,
    ...options,
  }).compile();

t.test('it is the version that was read', async t => {
  const { version } = createRequire(import.meta.url)('nodemailer/package.json') as { version: string };
  t.equal(version, '10.6.1', 'read the new sources, then change this line');
});

t.test('the tree has the text, the HTML with what has a cid beside it, and the other files', async t => {
  const content = Buffer.from('x');
  const root = compile({
    text: { content },
    html: { content },
    attachments: [
      { filename: 'a.bin', contentType: 'a/b', contentDisposition: 'attachment', content },
      { filename: 'c.png', contentType: 'image/png', contentDisposition: 'inline', cid: 'c', content },
    ],
  });
  const [alternative, attached] = root.childNodes;
  const [plain, related] = alternative?.childNodes ?? [];
  const [html, embedded] = related?.childNodes ?? [];
  const types = [root, alternative, plain, related, html, embedded, attached].map(node =>
    node?.getHeader('Content-Type'),
  );
  t.same(types, [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain; charset=utf-8',
    'multipart/related; type="text/html"',
    'text/html; charset=utf-8',
    'image/png',
    'a/b',
  ]);
  for (const leaf of [plain, html, embedded, attached]) {
    t.equal(leaf?.content, content);
    t.same(leaf?.childNodes, []);
  }
});

t.test(
  'buildHeaders asks encodeHeaderValue for a field, folds what it says, and may end a line at its name',
  async t => {
    const root = compile({ text: { content: Buffer.from('x') } });
    const { encodeHeaderValue } = root;
    root.encodeHeaderValue = (name, value) =>
      ['From', 'To', 'Subject'].includes(name)
        ? `ours of ${value} ${'w'.repeat(70)}`
        : encodeHeaderValue.call(root, name, value);
    const header = root.buildHeaders();
    t.match(header, `From: ours of a@b.example\r\n ${'w'.repeat(70)}\r\n`);
    t.match(header, `To: ours of c@d.example\r\n ${'w'.repeat(70)}\r\n`);
    t.match(header, `Subject: ours of Hello\r\n ${'w'.repeat(70)}\r\n`);
    const id = `<${'i'.repeat(80)}>`;
    t.match(compile({ messageId: id }).buildHeaders(), `Message-ID:\r\n ${id}\r\n`);
  },
);

t.test('left alone it writes domains anew, and leaves words that look encoded', async t => {
  t.match(compile({ from: { address: 'a@5.3', name: '' } }).buildHeaders(), 'From: a@5.0.0.3\r\n');
  t.match(compile({ subject: '=?utf-8?Q?x?=' }).buildHeaders(), 'Subject: =?utf-8?Q?x?=\r\n');
});

t.test('a node that says no encoding keeps the one it was given in its header', async t => {
  const root = compile({ text: { content: Buffer.from('x'), contentTransferEncoding: '7bit' } });
  t.notMatch(root.buildHeaders(), '7bit', 'bytes would be encoded');
  const kept = compile({ text: { content: Buffer.from('x'), contentTransferEncoding: '7bit' } });
  kept.getTransferEncoding = () => false;
  t.match(kept.buildHeaders(), 'Content-Transfer-Encoding: 7bit\r\n');
});

t.test(
  'stream of a multipart writes delimiters and has stream of each part write the rest, in turns',
  async t => {
    const content = Buffer.from('x');
    const root = compile({ text: { content }, html: { content } });
    const written: string[] = [];
    for (const [index, part] of root.childNodes.entries()) {
      part.stream = (output, _options, done) => {
        output.write(`part ${index}`);
        done();
      };
    }
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        written.push(chunk.toString());
        done();
      },
    });
    const writing = new Promise<void>(resolve => root.stream(output, {}, () => resolve()));
    t.equal(written.length, 1, 'the header at once, the parts in later turns');
    await writing;
    const boundary = `=_-${ID}-Part_1`;
    t.match(written[0], `boundary="${boundary}"\r\n\r\n`);
    t.equal(
      written.slice(1).join(''),
      `--${boundary}\r\npart 0\r\n--${boundary}\r\npart 1\r\n--${boundary}--\r\n`,
    );
  },
);

t.test('the media type of the whole can be set, and keeps its parameters and its boundary', async t => {
  const content = Buffer.from('x');
  const part = {
    filename: false,
    contentDisposition: 'inline',
    contentTransferEncoding: '7bit',
    content,
  } as const;
  const root = compile({
    text: { content, contentTransferEncoding: '7bit' },
    headers: { 'Auto-Submitted': 'auto-replied' },
    attachments: [
      { ...part, contentType: 'message/delivery-status' },
      { ...part, contentType: 'text/rfc822-headers' },
    ],
  });
  root.setHeader('Content-Type', 'multipart/report; report-type=delivery-status');
  const header = root.buildHeaders();
  t.match(header, /^Auto-Submitted: auto-replied\r$/m);
  t.match(
    header,
    `Content-Type: multipart/report; report-type=delivery-status;\r\n boundary="=_-${ID}-Part_1"`,
  );
  t.same(
    root.childNodes.map(node => node.getHeader('Content-Type')),
    ['text/plain; charset=utf-8', 'message/delivery-status', 'text/rfc822-headers'],
  );
});

t.test('a file without a name has those of its type and disposition as parameters, by RFC 2231', async t => {
  const root = compile({
    text: { content: Buffer.from('x') },
    attachments: [
      {
        filename: false,
        contentType: `a/b; name=${quoteString('=?x "y"')}`,
        contentDisposition: `attachment; filename=${quoteString('=?x "y"')}`,
        contentTransferEncoding: 'base64',
        headers: { 'Content-ID': '<c@d>' },
        content: Buffer.from('x'),
      },
    ],
  });
  const header = root.childNodes[1]?.buildHeaders();
  t.match(header, "Content-Type: a/b; name*0*=utf-8''%3D%3Fx%20%22y%22\r\n");
  t.match(header, "Content-Disposition: attachment; filename*0*=utf-8''%3D%3Fx%20%22y%22");
  t.match(header, 'Content-ID: <c@d>\r\n');
});

t.test('encodeWord encodes whatever it is given, in words of the length that is asked for', async t => {
  t.equal(encodeWord('=?é', 'Q', 52), '=?UTF-8?Q?=3D=3F=C3=A9?=');
  t.equal(encodeWord('a', 'B', 52), '=?UTF-8?B?YQ==?=');
  for (const encoding of ['Q', 'B']) {
    const words = encodeWord('é'.repeat(200), encoding, 52).split(' ');
    t.ok(words.every(word => word.length <= 52));
  }
  t.equal(quoteString('a "b" \\'), '"a \\"b\\" \\\\"');
});
