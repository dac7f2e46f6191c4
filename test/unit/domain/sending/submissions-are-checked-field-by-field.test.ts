import fc from 'fast-check';
import t from 'tap';
import type { SendInput } from '../../../../src/contract/sending.js';
import { resultOf } from '../../../../src/domain/errors.js';
import {
  addressesOf,
  envelopeRecipients,
  normaliseRecipients,
} from '../../../../src/domain/message-parts.js';
import { contentBytes, normaliseSubmission as normalise } from '../../../../src/domain/send-input.js';

const normaliseSubmission = (input: SendInput) => resultOf(() => normalise(input));
const ONE = [{ address: 'ann@x.example' }];
const GOOD: SendInput = { to: ONE, subject: 'Notes', text: 'Hello' };
const refused = (code: string) => ({ ok: false, failure: { code } });

t.test('what an agent may leave out is nothing', async t => {
  t.same(normalise(GOOD), {
    recipients: { to: ONE, cc: [], bcc: [] },
    subject: 'Notes',
    text: 'Hello',
    html: null,
    files: [],
    inReplyTo: null,
    labels: [],
    idempotencyKey: null,
  });
});

t.test('a recipient is a bare ASCII address and perhaps a name', async t => {
  const long = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`;
  t.equal(long.length, 255);
  for (const address of [
    'ann@x.example',
    'Ann.Lee+tag@X.Example',
    "o'neil/dept=1@x.example",
    'a..b@x.example',
    '.a.@x_y.example',
    long.slice(1),
  ]) {
    t.match(normaliseSubmission({ ...GOOD, to: [{ address }] }), { ok: true }, address);
  }
  for (const address of [
    '',
    'ann',
    '@x.example',
    'ann@',
    'Ann <ann@x.example>',
    '<ann@x.example>',
    'ann@x.example, bob@x.example',
    'ann@x.example\r\nRCPT TO:<eve@y.example>',
    'ann@x.example\n',
    ' ann@x.example',
    'jürgen@x.example',
    'ann@münchen.example',
    '"odd user"@x.example',
    'ann@[127.0.0.1]',
    '\u212aelvin@x.example',
    'ann@x..example',
    'ann@-x.example',
    `${'a'.repeat(65)}@x.example`,
    long,
  ]) {
    t.match(
      normaliseSubmission({ ...GOOD, to: [{ address }] }),
      refused('invalid_message'),
      JSON.stringify(address),
    );
  }
});

t.test('names are trimmed, blank ones are none, bad ones name the field', async t => {
  const input = (name: string) => ({ ...GOOD, cc: [{ address: 'bob@x.example', name }] });
  const named = (name: string) => normaliseSubmission(input(name));
  t.match(named(' Bob '), { value: { recipients: { cc: [{ address: 'bob@x.example', name: 'Bob' }] } } });
  t.same(normalise(input(' \t ')).recipients.cc, [{ address: 'bob@x.example' }]);
  for (const bad of ['Bob\r\nBcc: eve@y.example', 'B\u0000b', 'é'.repeat(129)]) {
    const result = named(bad);
    t.match(result, refused('invalid_name'));
    t.match(result.ok ? '' : result.failure.message, /cc\[0\]\.name/);
  }
});

t.test('one to fifty recipients in all, repeats counted', async t => {
  const many = (count: number) => Array.from({ length: count }, () => ({ address: 'ann@x.example' }));
  t.match(normaliseSubmission({ ...GOOD, to: [] }), refused('invalid_message'));
  t.match(normaliseSubmission({ ...GOOD, to: many(20), cc: many(15), bcc: many(15) }), { ok: true });
  t.match(
    normaliseSubmission({ ...GOOD, to: many(20), cc: many(15), bcc: many(16) }),
    refused('invalid_message'),
  );
});

t.test('subject and text are not blank, the subject is short and of one line', async t => {
  for (const subject of ['', ' ', '\u00a0', 'a\r\nBcc: eve@y.example', 'a\tb', 'x'.repeat(999), '\ud800']) {
    t.match(normaliseSubmission({ ...GOOD, subject }), refused('invalid_message'), JSON.stringify(subject));
  }
  t.match(normaliseSubmission({ ...GOOD, subject: 'é'.repeat(499) }), { ok: true });
  for (const text of ['', ' \r\n ', 'a\udc00']) {
    t.match(normaliseSubmission({ ...GOOD, text }), refused('invalid_message'));
  }
  t.match(normaliseSubmission({ ...GOOD, html: '\ud800' }), refused('invalid_message'));
});

t.test('attachments have safe names, plain types and whole base64', async t => {
  const file = { filename: 'a.txt', type: 'text/plain', content: 'QQ==' };
  const sent = (change: object) => normaliseSubmission({ ...GOOD, attachments: [{ ...file, ...change }] });
  for (const good of [
    {},
    { content: '' },
    { filename: 'é'.repeat(127) },
    { type: 'application/vnd.x+json' },
  ]) {
    t.match(sent(good), { ok: true }, JSON.stringify(good));
  }
  for (const bad of [
    { filename: '' },
    { filename: 'a/b' },
    { filename: 'a\\b' },
    { filename: 'a\r\nX: y' },
    { filename: 'é'.repeat(128) },
    { type: 'text' },
    { type: 'text/plain; charset=utf-8' },
    { type: `a/${'b'.repeat(126)}` },
    { content: 'QQ' },
    { content: 'QQ==\n' },
    { content: 'Q===' },
    { content: '=QQ=' },
    { content: 'Q-_=' },
  ]) {
    t.match(sent(bad), refused('invalid_message'), JSON.stringify(bad));
  }
  t.match(normaliseSubmission({ ...GOOD, attachments: null }), { ok: true, value: { files: [] } });
  t.match(
    normaliseSubmission({ ...GOOD, attachments: Array.from({ length: 33 }, () => file) }),
    refused('invalid_message'),
  );
});

t.test('labels, keys and reply targets answer with their own codes', async t => {
  t.match(normaliseSubmission({ ...GOOD, labels: [' b ', 'a', 'b'] }), { value: { labels: ['a', 'b'] } });
  t.match(normaliseSubmission({ ...GOOD, labels: [''] }), refused('invalid_labels'));
  t.match(normaliseSubmission({ ...GOOD, idempotency_key: 'a b' }), refused('invalid_idempotency_key'));
  t.match(normaliseSubmission({ ...GOOD, in_reply_to: '<a@b>' }), refused('invalid_message'));
});

t.test('whatever stands in an address, it is refused or becomes exactly one forward-path', async () => {
  const pieces = fc.array(
    fc.constantFrom(
      'a',
      'B',
      '.',
      '@',
      'x.example',
      '+',
      ' ',
      '\r\n',
      ',',
      '<',
      '>',
      '"',
      '\\',
      ':',
      ';',
      'é',
      '\u0000',
    ),
    { maxLength: 8 },
  );
  const address = fc.oneof(
    pieces.map(parts => parts.join('')),
    fc.emailAddress(),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(address, { maxLength: 6 }), fc.array(address, { maxLength: 3 }), (to, bcc) => {
      const asInput = (list: string[]) => list.map(one => ({ address: one }));
      const result = resultOf(() => normaliseRecipients({ to: asInput(to), bcc: asInput(bcc) }));
      if (!result.ok) return true;
      const given = [...to, ...bcc];
      const paths = envelopeRecipients(result.value);
      return (
        given.every(one => /^[!-~]+@[A-Za-z0-9._-]+$/.test(one) && !/[<>,;:\\"\s]/.test(one)) &&
        JSON.stringify(addressesOf(result.value)) === JSON.stringify(given) &&
        paths.every(path => given.includes(path)) &&
        given.every(one => paths.some(path => path.toLowerCase() === one.toLowerCase()))
      );
    }),
    { numRuns: 2000 },
  );
});

t.test('the letter case of a domain makes no second forward-path, that of a local part does', async t => {
  const to = ['ann@x.example', 'ann@X.EXAMPLE', 'Ann@x.example', 'ann@x.example'].map(address => ({
    address,
  }));
  t.same(envelopeRecipients({ to, cc: [], bcc: [] }), ['ann@x.example', 'Ann@x.example']);
});

t.test('size is that of the texts in UTF-8 and of the files in base64', async t => {
  t.equal(contentBytes({ text: 'é', html: null, fileSizes: [0, 1, 2, 3, 4] }), 2 + 0 + 4 + 4 + 4 + 8);
  t.equal(contentBytes({ text: 'a', html: '<p>', fileSizes: [] }), 4);
});
