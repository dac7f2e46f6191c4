import t from 'tap';
import { multipart, parseText } from './parse-text.js';

const envelope = 'From: a@a.example\nSubject: s\n';

t.test('headers of any size do not hide the others', async t => {
  for (const padding of [
    `X-Pad: ${'abcdefghi\n '.repeat(300_000)}end\n`,
    'Received: from a by b; now\n'.repeat(50_000),
    `X-Pad: ${'x'.repeat(3_000_000)}\n`,
    'no header at all\n'.repeat(50_000),
  ]) {
    const { content } = await parseText(`${padding}${envelope}\nBody`);
    t.match(content, { from: { address: 'a@a.example' }, subject: 's', text: 'Body' });
  }
});

t.test('a field that is too long is cut between words', async t => {
  const { content } = await parseText(`To: ${'a@a.example, '.repeat(100)}b@good.example\n${envelope}\nBody`, {
    headerFieldBytes: 100,
  });
  t.equal(content.to.length, 7);
  t.ok(content.to.every(to => 'address' in to && to.address === 'a@a.example'));
  t.equal(content.subject, 's');
});

t.test('the bytes and lines kept of a header are bounded', async t => {
  const many = `${'Cc: a@a.example\n'.repeat(1_000)}\nBody`;
  const { cc } = (await parseText(many, { headerBytes: 160 })).content;
  t.ok(cc.length < 15 && cc.every(one => 'address' in one && one.address === 'a@a.example'));
  t.equal((await parseText(many, { headerLines: 10 })).content.cc.length, 10);
  t.equal((await parseText(many, { headerLines: 10 })).content.text, 'Body');
});

t.test('a subject is decoded to its end, or says that its end is missing', async t => {
  const subjectOf = async (value: string, limits = {}) =>
    (await parseText(`Subject: ${value}\n\nBody`, limits)).content.subject;
  for (const between of ['', ' ', '\n ']) {
    t.equal(await subjectOf(`=?utf-8?Q?a?=${between}`.repeat(8_000)), 'a'.repeat(8_000));
    const cut = await subjectOf(`=?utf-8?Q?a?=${between}`.repeat(50_000));
    t.match(cut, /^a{5000,} \[the rest of this subject was cut off\]$/);
  }
  const subject = await subjectOf('word '.repeat(50), { headerFieldBytes: 23 });
  t.equal(subject, 'word word word word [the rest of this subject was cut off]');
  t.equal(
    await subjectOf('x'.repeat(50), { headerFieldBytes: 20 }),
    '[the rest of this subject was cut off]',
  );
});

t.test('addresses and parameters are bounded', async t => {
  const header = `To: ${'a@a.example, '.repeat(50)}\n`;
  const { content } = await parseText(`${header}\nBody`, { addresses: 7 });
  t.equal(content.to.length, 7);
  t.equal(
    (await parseText(`Cc: ${'g:;'.repeat(50)}\n\nBody`, { addresses: 7 })).content.cc.length,
    7,
    'groups count',
  );
  const type = `Content-Type: text/html${';p=v'.repeat(50)}${Array.from({ length: 50 }, (_, i) => `;p${i}=v`).join('')};charset=koi8-r`;
  t.equal(
    (await parseText(`${type}\n\n\xc4`, { parameters: 10 })).content.html,
    'Ä',
    'the charset came too late',
  );
  t.equal((await parseText(`${type}\n\n\xc4`)).content.html, 'д');
});

t.test('parts beyond the bound are left out', async t => {
  const parts = Array.from({ length: 20 }, (_, i) => `Content-Type: image/x\n\n${i}`);
  const { content, files } = await parseText(envelope + multipart('mixed', '\nText', ...parts), { parts: 6 });
  t.match(content, { subject: 's', text: 'Text' });
  t.same(
    files.map(file => file.toString()),
    ['0', '1', '2', '3'],
    'the multipart and its text are parts too',
  );
});

t.test('a multipart nested too deep is an attachment as it stands', async t => {
  const depth = 5_000;
  const levels = Array.from(
    { length: depth },
    (_, i) => `--b${i}\nContent-Type: multipart/mixed; boundary=b${i + 1}\n\n`,
  );
  const message = `${envelope}Content-Type: multipart/mixed; boundary=b0\n\n${levels.join('')}--b${depth}\n\ndeep\n`;
  const { content, files } = await parseText(message);
  t.equal(content.subject, 's');
  t.equal(content.attachments[0]?.mime_type, 'multipart/mixed');
  t.match(files[0]?.toString(), /deep\r\n$/);
  const within = await parseText(message, { nesting: depth + 1, parts: depth + 2 });
  t.match(within.content, { text: 'deep\n', attachments: [] }, 'no recursion, so no stack to overflow');
});

t.test('a text body beyond the bound is cut, not inside a character', async t => {
  const body = Buffer.from('é'.repeat(1_000)).toString('latin1');
  const { content } = await parseText(`Content-Type: text/plain; charset=utf-8\n\n${body}`, {
    textBytes: 101,
  });
  t.equal(content.text, 'é'.repeat(50));
  const two = await parseText(
    multipart('mixed', `\n${'x'.repeat(80)}`, `Content-Type: text/html\n\n${'y'.repeat(80)}`),
    {
      textBytes: 100,
    },
  );
  t.equal(two.content.text?.length, 80);
  t.equal(two.content.html?.length, 20, 'the bound is for all bodies together');
});

t.test('hostile values come to an end', { timeout: 60_000 }, async t => {
  const long = 200_000;
  const fields: Record<string, string[]> = {
    To: ['@ ', '(', '( ', '"\\"', '<a', '<@,', 'a:;', '[', '=?a?q?', '\\', 'a@', 'a@b '],
    Subject: ['=?a?q?', '=?utf-8?q?a?= ', '?=', '=?', ' '],
    'Content-Type': ['(', ' (', '"', '"a"', ';a="\\"', ' ', '=', 'a*0*=%', 'text /'],
    'Content-Disposition': [';filename*0*=', '%2F', "'", '\\"'],
    'Content-ID': ['<', '<>', ' '],
    References: ['<', '<a', '(', '"', '@', 'a@b '],
    Date: ['(', '1 ', ':'],
  };
  for (const [name, patterns] of Object.entries(fields)) {
    for (const pattern of patterns) {
      const { content } = await parseText(
        `From: a@a.example\n${name}: x${pattern.repeat(long / pattern.length)}\n\nBody`,
      );
      t.same(content.from, { name: '', address: 'a@a.example' }, `${name} of ${JSON.stringify(pattern)}`);
    }
  }
});

t.test('hostile bodies come to an end', { timeout: 60_000 }, async t => {
  const big = 4_000_000;
  const mixed = 'Content-Type: multipart/mixed; boundary=bb\n\n--bb\n\n';
  const bodies: Record<string, [string, string]> = {
    'lines of dashes': [mixed, '--\n'],
    'lines like delimiters': [mixed, '--b\n'],
    'one endless line of dashes': [mixed, '--'],
    'parts without end': [mixed, '--bb\n\n'],
    'soft breaks': ['Content-Transfer-Encoding: quoted-printable\n\n', '= '],
    blanks: ['Content-Transfer-Encoding: quoted-printable\n\n', ' '],
    'flowed lines': ['Content-Type: text/plain; format=flowed\n\n', '> a \n'],
    'one flowed paragraph': ['Content-Type: text/plain; format=flowed\n\n', 'a \n'],
    escapes: ['Content-Type: text/plain; charset=iso-2022-jp\n\n', '\x1b'],
    'open elements': ['Content-Type: text/html\n\n', '<td><meta '],
  };
  for (const [name, [header, pattern]] of Object.entries(bodies)) {
    const { content } = await parseText(envelope + header + pattern.repeat(big / pattern.length));
    t.equal(content.subject, 's', name);
  }
});
