import fc from 'fast-check';
import t from 'tap';
import { withFinalLineEnd } from '../../../src/relay/session/content.js';
import { checkAttempt } from '../../../src/relay/split-relay.js';
import { attempt } from './smarthost/with-smarthost.js';

t.test('addresses of our grammar pass, the null sender too', async t => {
  for (const address of [
    'a@b.example',
    "o'neil+x!#$%&*/=?^_`{|}~-.y@x-1.example",
    `${'x'.repeat(64)}@b.example`,
  ]) {
    t.equal(await checkAttempt(attempt({ from: address, recipients: [address] })), null);
  }
  t.equal(await checkAttempt(attempt({ from: '' })), null);
});

const bad = [
  'a@b.example\r\nRCPT TO:<evil@x.example>',
  'a@b.example> SIZE=1',
  'a@b.example\n',
  'a@b.example ',
  ' a@b.example',
  '<a@b.example>',
  'a b@c.example',
  'a@b.example, c@d.example',
  '"a b"@c.example',
  'ä@b.example',
  'a@bücher.example',
  'a@b@c.example',
  'a',
  '@b.example',
  'a@',
  'a\u0000@b.example',
  `${'x'.repeat(65)}@b.example`,
  `a@${'x'.repeat(250)}.example`,
];

for (const address of bad) {
  t.test(`refused: ${JSON.stringify(address.slice(0, 60))}`, async t => {
    t.match(await checkAttempt(attempt({ from: address })), {
      status: 'rejected',
      errorCode: 'E_SENDER_REJECTED',
    });
    t.match(await checkAttempt(attempt({ recipients: ['a@b.example', address] })), {
      status: 'rejected',
      errorCode: 'E_RECIPIENT_REJECTED',
      detail: /^recipient 2 /,
    });
  });
}

t.test('a message needs a recipient', async t => {
  t.match(await checkAttempt(attempt({ recipients: [] })), { errorCode: 'E_RECIPIENT_REJECTED' });
  t.match(await checkAttempt(attempt({ recipients: [''] })), { errorCode: 'E_RECIPIENT_REJECTED' });
});

const MIB = 1024 * 1024;
const contents: readonly (readonly [string, string | Buffer, RegExp | null])[] = [
  ['plain', 'a: b\r\n\r\ntext\r\n', null],
  ['without a last line end', 'a: b\r\n\r\ntext', null],
  ['a line of 998', `${'x'.repeat(998)}\r\n${'x'.repeat(998)}`, null],
  ['a line of 999', `${'x'.repeat(999)}\r\n`, /line of more than 998/],
  ['a last line of 999', `\r\n${'x'.repeat(999)}`, /line of more than 998/],
  ['a bare LF', 'a\nb\r\n', /bare/],
  ['an LF first', '\na\r\n', /bare/],
  ['a bare CR', 'a\rb\r\n', /bare/],
  ['two CR', 'a\r\r\n', /bare/],
  ['a CR last', 'a\r\nb\r', /bare/],
  ['a NUL', 'a\u0000b\r\n', /NUL/],
  ['8 bits', Buffer.from([0x61, 0x80, 0x0d, 0x0a]), /7 bits/],
  ['nothing', '', /empty/],
  [
    'a line end across two pieces',
    `${`${'x'.repeat(62)}\r\n`.repeat(MIB / 64 - 1)}${'x'.repeat(63)}\r\nb\r\n`,
    null,
  ],
  [
    'a long line across two pieces',
    `${`${'x'.repeat(62)}\r\n`.repeat(MIB / 64 - 1)}${'x'.repeat(1100)}\r\n`,
    /998/,
  ],
  ['8 bits in a later piece', `${`${'x'.repeat(62)}\r\n`.repeat(MIB / 64)}\u00e9\r\n`, /7 bits/],
];

for (const [claim, content, fault] of contents) {
  t.test(`content: ${claim}`, async t => {
    const outcome = await checkAttempt(attempt({ content }));
    if (fault === null) t.equal(outcome, null);
    else t.match(outcome, { status: 'rejected', errorCode: 'E_MESSAGE_REJECTED', detail: fault });
  });
}

t.test('what passes is what a plain reading of the rule lets pass', async t => {
  const bytes = fc.array(fc.constantFrom(0x0d, 0x0a, 0x0d, 0x0a, 0x2e, 0x61, 0x00, 0x80), { minLength: 1 });
  const holds = fc.asyncProperty(bytes, async bytes => {
    const content = Buffer.from(bytes);
    const text = content.toString('latin1');
    const isGood = !/[\u0000\u0080-\u00ff]/.test(text) && !/[\r\n]/.test(text.replaceAll('\r\n', ''));
    return ((await checkAttempt(attempt({ content }))) === null) === isGood;
  });
  await t.resolves(fc.assert(holds, { numRuns: 500 }));
});

t.test('the last line gets its line end, and only when it has none', async t => {
  t.equal(Buffer.from(withFinalLineEnd(Buffer.from('a'))).toString(), 'a\r\n');
  t.equal(Buffer.from(withFinalLineEnd(Buffer.from('a\r\n'))).toString(), 'a\r\n');
});
