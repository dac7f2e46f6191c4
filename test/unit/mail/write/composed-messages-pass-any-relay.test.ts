import { isAscii } from 'node:buffer';
import fc from 'fast-check';
import t from 'tap';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { bodyText, message, outgoing } from './outgoing-messages.js';

function composed(changes: Partial<OutgoingMessage>): string {
  return composeMessage(outgoing(changes)).toString('latin1');
}

/** The unfolded header at the beginning of a message or part. */
function headerOf(text: string): string[] {
  return (text.split('\r\n\r\n')[0] ?? '').replaceAll('\r\n ', ' ').split('\r\n');
}

t.test('7-bit, no NUL, CRLF alone ends lines, none is over 998 octets', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(message, sent => {
        const raw = composeMessage(sent);
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
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(wild, text => {
        const body = composed({ text }).split('\r\n\r\n').slice(1).join('\r\n\r\n');
        return body.split('\r\n').every(line => line.length <= 78 && !/^(From |\.$)/.test(line));
      }),
      { numRuns: 1000 },
    ),
  );
});

t.test('header lines have 76 octets at most, but for a single word that is longer', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(message, sent => {
        const header = composeMessage(sent).toString('latin1').split('\r\n\r\n')[0] ?? '';
        return header.split('\r\n').every(line => line.length <= 76 || /^(?:[\w-]+:)? \S+$/.test(line));
      }),
      { numRuns: 500 },
    ),
  );
});

t.test('the same message is composed to the same bytes', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(message, sent => composeMessage(sent).equals(composeMessage(structuredClone(sent)))),
      { numRuns: 100 },
    ),
  );
});

t.test('a body cannot end its part: text that holds the id is not sent as it stands', async t => {
  const { id } = outgoing();
  const boundaries = ['mixed', 'alternative', 'related'].map(kind => `--=_${kind}_${id}`);
  const raw = composed({
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
      '--=_mixed_ID',
      '--=_alternative_ID',
      '--=_alternative_ID',
      '--=_related_ID',
      '--=_related_ID',
      '--=_related_ID--',
      '--=_alternative_ID--',
      '--=_mixed_ID',
      '--=_mixed_ID--',
    ],
  );
});

t.test('text alone is a single part, text and HTML are alternatives', async t => {
  t.match(
    composed({}),
    /\r\nContent-Type: text\/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\nHello\r\n$/,
  );
  const types = (changes: Partial<OutgoingMessage>) =>
    [...composed(changes).matchAll(/^Content-Type: ([a-z/]+)/gm)].map(([, type]) => type);
  const attached = {
    filename: 'a.pdf',
    type: 'application/pdf',
    disposition: 'attachment',
    bytes: Buffer.of(1),
  } as const;
  const inline = { ...attached, type: 'image/png', disposition: 'inline' } as const;
  const embedded = { ...inline, contentId: 'p1' };
  t.same(types({ html: '<p>' }), ['multipart/alternative', 'text/plain', 'text/html']);
  t.same(types({ files: [attached] }), ['multipart/mixed', 'text/plain', 'application/pdf']);
  t.same(types({ html: '<p>', files: [attached, embedded, inline] }), [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'multipart/related',
    'text/html',
    'image/png',
    'application/pdf',
    'image/png',
  ]);
  t.same(types({ files: [embedded] }), ['multipart/mixed', 'text/plain', 'image/png'], 'no HTML shows it');
});

t.test('no field is empty, and none is there that says nothing', async t => {
  const names = (changes: Partial<OutgoingMessage>) =>
    headerOf(composed(changes)).map(line => line.split(':')[0]);
  const always = ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version', 'Content-Type'];
  t.same(names({}), [...always, 'Content-Transfer-Encoding']);
  t.same(names({ to: [], subject: '' }), [
    ...always.filter(name => name !== 'To' && name !== 'Subject'),
    'Content-Transfer-Encoding',
  ]);
});

function partWith(type: string, bytes: string, filename = 'm.eml'): string {
  const file = { filename, type, disposition: 'attachment', bytes: Buffer.from(bytes, 'latin1') } as const;
  return (
    composed({ files: [file] })
      .split('--=_mixed')
      .at(-2) ?? ''
  );
}

t.test('a message in a file goes as it is where no relay has to change it', async t => {
  for (const bytes of ['', 'From: x', `From: x\r\n\r\n${'x'.repeat(998)}\r\nFrom here\r\n.\r\n --b \t\r\n`]) {
    const head = 'Content-Type: message/rfc822; name="m.eml"\r\nContent-Transfer-Encoding: 7bit\r\n';
    const part = partWith('message/rfc822', bytes);
    t.ok(part.includes(head), part);
    t.ok(part.endsWith(`\r\n\r\n${bytes}\r\n`), 'byte for byte');
  }
});

t.test('other messages and multiparts in files go as bytes, and a message keeps its ending', async t => {
  const opaque = (name: string) =>
    `Content-Type: application/octet-stream; name="${name}"\r\nContent-Transfer-Encoding: base64\r\n`;
  for (const bytes of [
    'caf\xe9',
    'a\0',
    'a\nb\r\n',
    'a\rb\r\n',
    'a\r',
    '\n',
    `${'x'.repeat(999)}\r\n`,
    'x'.repeat(999),
    `--=_mixed_${outgoing().id}--\r\n`,
  ]) {
    t.ok(partWith('message/rfc822', bytes).includes(opaque('m.eml')), JSON.stringify(bytes.slice(0, 60)));
    t.ok(partWith('Message/RFC822', bytes, 'note').includes(opaque('note.eml')));
  }
  for (const type of ['Message/Delivery-Status', 'multipart/signed']) {
    t.ok(partWith(type, 'From: x').includes(opaque('m.eml')), type);
    t.ok(partWith(type, 'From: x', 'note').includes(opaque('note')), type);
  }
});
