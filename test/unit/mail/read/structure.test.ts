import t from 'tap';
import { multipart, parseBytes, parseText } from './parse-text.js';

const picture = 'Content-Type: image/png\nContent-ID: < p@x >\nContent-Transfer-Encoding: base64\n\nUFBQ';
const inner = 'Subject: inner\nContent-Type: multipart/mixed; boundary=in\n\n--in\n\ninner text\n--in--\n';

t.test('a message without MIME is its text', async t => {
  const { content } = await parseText('From: a@a.example\nSubject: s\n\nline one\nline two\n');
  t.equal(content.text, 'line one\nline two\n');
  t.equal(content.html, null);
  t.same(content.attachments, []);
});

t.test('text and HTML come from their own parts, joined in order', async t => {
  const html = 'Content-Type: text/html\n\n<p>One</p>';
  t.match((await parseText(html)).content, { text: null, html: '<p>One</p>' });
  const { content } = await parseText(
    multipart(
      'mixed',
      '\nBefore',
      html,
      picture,
      'Content-Disposition: inline\n\nAfter',
      'Content-Type: text/html\n\n<p>Two</p>',
    ),
  );
  t.equal(content.text, 'Before\nAfter');
  t.equal(content.html, '<p>One</p>\n<p>Two</p>');
  t.equal(content.attachments.length, 1);
  t.match((await parseText(multipart('mixed', picture))).content, { text: null, html: null });
});

t.test('cid links stay as they are', async t => {
  const { content } = await parseText(
    multipart('related', 'Content-Type: text/html\n\n<img src="cid:p@x">', picture),
  );
  t.equal(content.html, '<img src="cid:p@x">');
});

t.test('text with a name or a disposition other than inline is an attachment', async t => {
  const { content, files } = await parseText(
    multipart(
      'mixed',
      '\nBody',
      'Content-Type: text/plain; name=a.txt\n\none',
      'Content-Type: text/html\nContent-Disposition: inline; filename=b.html\n\ntwo',
      'Content-Type: text/plain; charset=utf-16\nContent-Disposition: attachment\n\nthree',
      'Content-Disposition: foo\n\nfour',
      'Content-Type: text/calendar; method=REQUEST\n\nfive',
    ),
  );
  t.equal(content.text, 'Body');
  t.same(
    files.map(file => file.toString()),
    ['one', 'two', 'three', 'four', 'five'],
  );
  t.same(content.attachments.at(-1), {
    id: 'a5',
    filename: null,
    size: 4,
    mime_type: 'text/calendar',
    disposition: null,
    content_id: null,
    related: false,
  });
});

t.test('text with a name is the body where nothing else can be it', async t => {
  const html = 'Content-Type: text/html; name="body.html"\n\n<p>Hi</p>';
  const related = (type: string, ...parts: string[]) =>
    multipart('related', ...parts).replace('multipart/related', `multipart/related${type}`);
  const picture = 'Content-Type: image/png; name=a.png\nContent-ID: <i@x>\n\nPPP';
  const second = 'Content-Type: text/html; name=b.html\nContent-ID: < b@x >\n\n<p>Hi</p>';
  for (const [message, files] of [
    [html, 0],
    [html.replace('; name', '; charset=utf-8; name'), 0],
    ['Content-Type: text/html\nContent-Disposition: inline; filename=body.html\n\n<p>Hi</p>', 0],
    [multipart('alternative', 'Content-Type: text/plain; name=a.txt\n\nHi', html), 0],
    [multipart('related', html, picture), 1],
    [related('; start="<b@x>"', picture, second), 1],
    [multipart('mixed', multipart('alternative', '\nHi', html), picture), 1],
  ] as const) {
    const { content } = await parseText(message);
    t.match(content.html?.trim(), '<p>Hi</p>', message);
    t.equal(content.attachments.length, files, message);
  }
  for (const message of [
    html.replace('\n\n', '\nContent-Disposition: attachment\n\n'),
    multipart('mixed', '\nHi', html),
    multipart('related', picture, second),
    related('; start="<c@x>"', html, picture),
    'Content-Type: html; name=a.html\n\n<p>Hi</p>',
  ]) {
    const { content } = await parseText(message);
    t.equal(content.html, null, message);
    t.ok(content.attachments.length > 0, message);
  }
});

t.test('a file whose type cannot be used is of unknown kind', async t => {
  for (const type of [
    'pdf',
    'nonsense; x=y',
    'text/',
    'application/p d f',
    "a/b'c",
    'multipart/mixed',
    '/',
  ]) {
    const { content } = await parseText(
      multipart('mixed', '\nHi', `Content-Type: ${type}\nContent-Disposition: attachment; filename=a\n\nX`),
    );
    t.match(content, { text: 'Hi', attachments: [{ mime_type: 'application/octet-stream', size: 1 }] }, type);
  }
  const { content } = await parseText('Content-Disposition: attachment; filename=a.txt\n\nX');
  t.match(content.attachments, [{ mime_type: 'text/plain' }], 'no type at all is plain text');
});

t.test('a Content-ID loses folds and edges, not the spaces inside', async t => {
  const idOf = async (written: string) =>
    (await parseText(`Content-Type: image/png\nContent-ID: ${written}\n\nX`)).content.attachments[0]
      ?.content_id;
  t.equal(await idOf('<a b@x>'), 'a b@x');
  t.equal(await idOf(' < a b@x > (c)'), 'a b@x');
  t.equal(await idOf('<a\n b@x>'), 'ab@x');
  t.equal(await idOf('\n <a \n\t b  c@x>'), 'ab  c@x');
  t.equal(await idOf('a b@x'), 'a b@x');
  t.equal(await idOf('< >'), null);
});

t.test('a boundary folded inside its quotes is found in each of its forms', async t => {
  for (const used of ['first\tsecond', 'first second', 'firstsecond']) {
    const { content } = await parseText(
      `Content-Type: multipart/mixed;\n boundary="first\n\tsecond"\n\n--${used}\n\nHi\n--${used}\nContent-Type: image/png\n\nX\n--${used}--\nno`,
    );
    t.match(content, { text: 'Hi', attachments: [{ size: 1 }] }, used);
  }
});

t.test('a message in the message is one attachment with its exact bytes', async t => {
  for (const disposition of [
    '',
    'Content-Disposition: inline\n',
    'Content-Disposition: attachment; filename=f.eml\n',
  ]) {
    const { content, files } = await parseText(
      multipart('mixed', '\nouter', `Content-Type: message/rfc822\n${disposition}\n${inner}`),
    );
    t.equal(content.text, 'outer');
    t.equal(content.subject, null);
    t.equal(content.attachments.length, 1);
    t.equal(content.attachments[0]?.mime_type, 'message/rfc822');
    t.equal(files[0]?.toString(), inner.replace(/\n/g, '\r\n'));
  }
  const digest = await parseText(multipart('digest', `\n${inner}`));
  t.equal(digest.content.attachments[0]?.mime_type, 'message/rfc822', 'the default in a digest');
});

t.test('related is where a part stands', async t => {
  const { content } = await parseText(
    `Content-Type: multipart/mixed; boundary=out\n\n--out\n${multipart(
      'related',
      'Content-Type: text/html\n\nx',
      'Content-Type: image/png\n\nno id',
      picture,
    )}--out\n${picture}\n--out--\n`,
  );
  t.same(
    content.attachments.map(({ related, content_id }) => [related, content_id]),
    [
      [true, null],
      [true, 'p@x'],
      [false, 'p@x'],
    ],
  );
});

t.test('delimiters', async t => {
  const message = (body: string, boundary = 'b'): Promise<{ content: { text: string | null } }> =>
    parseText(`Content-Type: multipart/mixed; boundary="${boundary}"\n\n${body}`);
  t.equal((await message('preamble\n--b\n\nx\n--b--\nepilogue\n--b\n\ny\n')).content.text, 'x');
  t.equal((await message('--b  \n\nx\n--b-- \t\n')).content.text, 'x', 'white space behind');
  t.equal(
    (await message('--b\n\nsee --b\n--bc\n--b-\n --b\nend\n--b--')).content.text,
    'see --b\n--bc\n--b-\n --b\nend',
  );
  t.equal(
    (await message("--a '()+_,-./:=?c\n\nx\n--a '()+_,-./:=?c--", "a '()+_,-./:=?c")).content.text,
    'x',
  );
  t.equal((await message('--b\n\nx\n')).content.text, 'x\n', 'the last delimiter is missing');
  t.equal((await message('--b\n\nx\n--b')).content.text, 'x', 'the end comes in a delimiter');
  t.equal(
    (await message('--b\n\n\nx\n\n--b--')).content.text,
    '\nx\n',
    'one line end belongs to the delimiter',
  );
  t.equal((await message('--b--\n')).content.text, null, 'no part');
  t.equal((await message('--b\nContent-Type: text/plain\n--b--\n')).content.text, '', 'a header and no body');
  for (const body of ['', '\n', '\n\n', '\n\n\n']) {
    const image = `Content-Type: image/x\n${body}`;
    const { files } = await parseText(
      `Content-Type: multipart/mixed; boundary=b\n\n--b\n${image}\n--b\n${image}\n--b--\n`,
    );
    const bytes = body.slice(1).replaceAll('\n', '\r\n');
    t.same(files.map(String), [bytes, bytes], 'empty before another, or a header alone');
  }
  t.same((await message('--b\n\r--b\n\nx\r--b\n--b--')).content.text, 'x\r--b', 'a bare CR begins no line');
  t.equal((await message('--b--\n--b\n\nx\n--b--')).content.text, 'x', 'a closing delimiter in the preamble');
});

t.test('nested multiparts end with any delimiter further out', async t => {
  const nested = (innerBoundary: string): string =>
    `Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=${innerBoundary}\n\n` +
    `--${innerBoundary}\n\ntext\n--${innerBoundary}\nContent-Type: text/html\n\n<p>\n--b\n${picture}\n--b--\n`;
  for (const innerBoundary of ['inner', 'bb', 'b-', 'b--x']) {
    const { content, files } = await parseText(nested(innerBoundary));
    t.match(content, { text: 'text', html: '<p>' }, innerBoundary);
    t.equal(files[0]?.toString(), 'PPP');
  }
  const same = await parseText(
    'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n--b\n\ny\n--b--\n',
  );
  t.equal(same.content.text, 'x\ny', 'one boundary for both');
});

t.test('malformed types are read as meant', async t => {
  const textOf = async (type: string): Promise<string | null> =>
    (await parseText(`Content-Type: ${type}\n\nHello`)).content.text;
  for (const type of [
    '',
    'text',
    'nonsense',
    'text/',
    'multipart/mixed',
    'multipart/mixed; boundary=""',
    'TEXT / PLAIN (c)',
  ]) {
    t.equal(await textOf(type), 'Hello', type);
  }
});

t.test('bytes that are no text stay exact', async t => {
  const body = '\0\r\n\r\r\n\n--\n\xff';
  const message = `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: image/x\r\n\r\n${body}\r\n--b--\r\n`;
  const { files } = await parseBytes(Buffer.from(message, 'latin1'));
  t.equal(files[0]?.toString('latin1'), body);
});

t.test('lines that are no header fields do not swallow those that are', async t => {
  const { content } = await parseText(
    'From x@a.example Fri Nov 27 09:30:00 2026\nwhat is this\n : x\nSubject: s\n\nBody',
  );
  t.match(content, { subject: 's', text: 'Body', from: null });
  t.match((await parseText('\nSubject: no header')).content, { subject: null, text: 'Subject: no header' });
  t.match((await parseText('')).content, { subject: null, attachments: [] });
  t.match((await parseText('Subject: only a header')).content, { subject: 'only a header', text: '' });
});
