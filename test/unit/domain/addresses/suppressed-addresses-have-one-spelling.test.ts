import t from 'tap';
import { normaliseReason as normalise, toSuppressedAddress } from '../../../../src/domain/addresses.js';
import { resultOf } from '../../../../src/domain/errors.js';

const normaliseReason = (text: string | undefined) => resultOf(() => normalise(text));

t.test('letter case makes no other address, a tag and a dot do', async t => {
  for (const [written, address] of [
    ['ann@example.com', 'ann@example.com'],
    [' Ann@Example.COM\n', 'ann@example.com'],
    ['Ann+Tag@example.com', 'ann+tag@example.com'],
    ['a.nn@example.com', 'a.nn@example.com'],
    ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
  ] as const) {
    t.equal(toSuppressedAddress(written), address, JSON.stringify(written));
  }
});

t.test('what mail could not be sent to is none', async t => {
  for (const bad of [
    '',
    '@',
    'ann',
    'ann@',
    '@example.com',
    'Ann <ann@example.com>',
    'jörg@example.com',
    '"ann"@example.com',
    'ann@bücher.example/x',
    `${'a'.repeat(65)}@example.com`,
    `ann@${'a'.repeat(300)}`,
  ]) {
    t.equal(toSuppressedAddress(bad), null, bad.slice(0, 40));
  }
});

t.test('a reason is one line of text, trimmed; blank is none', async t => {
  t.strictSame(normaliseReason('  bounced twice '), { ok: true, value: 'bounced twice' });
  for (const none of [undefined, '', ' \t']) t.strictSame(normaliseReason(none), { ok: true, value: null });
  t.match(normaliseReason('é'.repeat(256)), { ok: true });
  for (const bad of ['two\nlines', 'a\u0000', '\ud800', 'é'.repeat(257)]) {
    t.match(normaliseReason(bad), { ok: false, failure: { code: 'invalid_request' } });
  }
});
