import { isAscii } from 'node:buffer';
import fc from 'fast-check';
import t from 'tap';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { bodyText, message, outgoing } from './outgoing-messages.js';

async function composed(changes: Partial<OutgoingMessage>): Promise<string> {
  return (await composeMessage(outgoing(changes))).toString('latin1');
}

/** The unfolded header at the beginning of a message or part. */
function headerOf(text: string): string[] {
  return (text.split('\r\n\r\n')[0] ?? '').replaceAll('\r\n ', ' ').split('\r\n');
}

t.test('7-bit, no NUL, CRLF alone ends lines, none is over 998 octets', async t => {
  await t.resolves(
    fc.assert(
      fc.asyncProperty(message, async sent => {
        const raw = await composeMessage(sent);
        const lines = raw.toString('latin1').split('\r\n');
        return (
          isAscii(raw) &&
          !raw.includes(0) &&
          lines.at(-1) === '' &&
          lines.every(line => line.length <= 998 && !/[\r\n]|[ \t]$/.test(line))
        );
      }),
      { numRuns: 500 },
    ),
  );
});

t.test('a body has lines of 78 octets at most, of which none is a lone dot or begins with From', async t => {
  const wild = fc.oneof(
    bodyText,
    fc.string({ unit: fc.constantFrom('F', 'r', 'o', 'm', ' ', '.', '\n', 'From ', 'é', 'x'.repeat(70)) }),
  );
  await t.resolves(
    fc.assert(
      fc.asyncProperty(wild, async text => {
        const body = (await composed({ text })).split('\r\n\r\n').slice(1).join('\r\n\r\n');
        return body.split('\r\n').every(line => line.length <= 78 && !/^(From |\.$)/.test(line));
      }),
      { numRuns: 1000 },
    ),
  );
});

t.test('header lines have 76 octets at most, but for a single word that is longer', async t => {
  await t.resolves(
    fc.assert(
      fc.asyncProperty(message, async sent => {
        const header = (await composeMessage(sent)).toString('latin1').split('\r\n\r\n')[0] ?? '';
        return header.split('\r\n').every(line => line.length <= 76 || /^(?:[\w-]+:)? \S+$/.test(line));
      }),
      { numRuns: 500 },
    ),
  );
});

t.test('the same message is composed to the same bytes', async t => {
  await t.resolves(
    fc.assert(
      fc.asyncProperty(message, async sent =>
        (await composeMessage(sent)).equals(await composeMessage(structuredClone(sent))),
      ),
      { numRuns: 100 },
    ),
  );
});

t.test('a body cannot end its part: text that holds the id is not sent as it stands', async t => {
  const { id } = outgoing();
  const boundaries = [1, 2, 4].map(part => `--=_-${id}-Part_${part}`);
  const raw = await composed({
    text: `${boundaries.join('\n')}\n${boundaries[0]}--`,
    html: boundaries.join('--\n'),
    files: [
      {
        filename: 'a',
        type: 'text/plain',
        disposition: 'attachment',
        bytes: Buffer.from(boundaries.join('\r\n')),
      },
      { filename: 'b', type: 'text/plain', disposition: 'inline', contentId: 'c', bytes: Buffer.alloc(0) },
    ],
  });
  const found = raw.split('\r\n').filter(line => line.startsWith('--=_'));
  t.same(
    found.map(line => line.replace(id, 'ID')),
    [
      '--=_-ID-Part_1',
      '--=_-ID-Part_2',
      '--=_-ID-Part_2',
      '--=_-ID-Part_4',
      '--=_-ID-Part_4',
      '--=_-ID-Part_4--',
      '--=_-ID-Part_2--',
      '--=_-ID-Part_1',
      '--=_-ID-Part_1--',
    ],
  );
});

t.test('text alone is a single part, text and HTML are alternatives', async t => {
  const single = await composed({});
  t.same(
    headerOf(single).filter(line => line.startsWith('Content-')),
    ['Content-Transfer-Encoding: 7bit', 'Content-Type: text/plain; charset=utf-8'],
  );
  t.ok(single.endsWith('\r\n\r\nHello\r\n'));
  const types = async (changes: Partial<OutgoingMessage>) =>
    [...(await composed(changes)).matchAll(/^Content-Type: ([a-z/]+)/gm)].map(([, type]) => type);
  const attached = {
    filename: 'a.pdf',
    type: 'application/pdf',
    disposition: 'attachment',
    bytes: Buffer.of(1),
  } as const;
  const inline = { ...attached, type: 'image/png', disposition: 'inline' } as const;
  const embedded = { ...inline, contentId: 'p1' };
  t.same(await types({ html: '<p>' }), ['multipart/alternative', 'text/plain', 'text/html']);
  t.same(await types({ files: [attached] }), ['multipart/mixed', 'text/plain', 'application/pdf']);
  t.same(await types({ html: '<p>', files: [attached, embedded, inline] }), [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'multipart/related',
    'text/html',
    'image/png',
    'application/pdf',
    'image/png',
  ]);
  t.same(
    await types({ files: [embedded] }),
    ['multipart/mixed', 'text/plain', 'image/png'],
    'no HTML shows it',
  );
});

t.test('no field is empty, and none is there that says nothing', async t => {
  const names = async (changes: Partial<OutgoingMessage>) =>
    headerOf(await composed(changes))
      .map(line => line.split(':')[0])
      .sort();
  const mime = ['Content-Transfer-Encoding', 'Content-Type'];
  t.same(await names({}), [...mime, 'Date', 'From', 'MIME-Version', 'Message-ID', 'Subject', 'To']);
  t.same(await names({ to: [], subject: '' }), [...mime, 'Date', 'From', 'MIME-Version', 'Message-ID']);
});

/** The part of a file, its header unfolded and sorted. */
async function partWith(
  type: string,
  bytes: string,
  filename = 'm.eml',
): Promise<{ readonly header: readonly string[]; readonly body: string }> {
  const file = { filename, type, disposition: 'attachment', bytes: Buffer.from(bytes, 'latin1') } as const;
  const raw = await composed({ files: [file] });
  const delimiter = `--=_-${outgoing().id}-Part_1`;
  const part = raw.slice(
    raw.lastIndexOf(`${delimiter}\r\n`) + delimiter.length + 2,
    raw.lastIndexOf(delimiter) - 2,
  );
  return { header: headerOf(part).sort(), body: part.slice(part.indexOf('\r\n\r\n') + 4) };
}

t.test('a message in a file goes as it is where no relay has to change it', async t => {
  for (const bytes of ['', 'From: x', `From: x\r\n\r\n${'x'.repeat(998)}\r\nFrom here\r\n.\r\n --b \t\r\n`]) {
    const { header, body } = await partWith('message/rfc822', bytes);
    t.same(header, [
      'Content-Disposition: attachment; filename="m.eml"',
      'Content-Transfer-Encoding: 7bit',
      'Content-Type: message/rfc822; name="m.eml"',
    ]);
    t.equal(body, bytes, 'byte for byte');
  }
});

t.test('other messages and multiparts in files go as bytes, and a message keeps its ending', async t => {
  const opaque = (name: string) => [
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Type: application/octet-stream; name="${name}"`,
  ];
  for (const bytes of [
    'caf\xe9',
    'a\0',
    'a\nb\r\n',
    'a\rb\r\n',
    'a\r',
    '\n',
    `${'x'.repeat(999)}\r\n`,
    'x'.repeat(999),
    `--=_-${outgoing().id}-Part_1--\r\n`,
  ]) {
    const { header, body } = await partWith('message/rfc822', bytes);
    t.same(header, opaque('m.eml'), JSON.stringify(bytes.slice(0, 60)));
    t.equal(Buffer.from(body, 'base64').toString('latin1'), bytes);
    t.same((await partWith('Message/RFC822', bytes, 'note')).header, opaque('note.eml'));
  }
  for (const type of ['Message/Delivery-Status', 'multipart/signed']) {
    t.same((await partWith(type, 'From: x')).header, opaque('m.eml'), type);
    t.same((await partWith(type, 'From: x', 'note')).header, opaque('note'), type);
  }
});
