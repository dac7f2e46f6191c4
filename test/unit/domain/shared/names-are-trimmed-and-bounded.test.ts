import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { normaliseName as normalise } from '../../../../src/domain/text.js';

const normaliseName = (field: string, value: string | null | undefined) =>
  resultOf(() => normalise(field, value));

t.test('absent, null and blank all mean no name', async t => {
  for (const value of [undefined, null, '', ' ', '\t\n', '\u00a0\u3000']) {
    t.strictSame(normaliseName('name', value), { ok: true, value: null });
  }
});

t.test('a name has at most 256 bytes of UTF-8 after trimming', async t => {
  t.strictSame(normaliseName('name', `  ${'é'.repeat(128)}  `), { ok: true, value: 'é'.repeat(128) });
  for (const value of ['a'.repeat(257), 'é'.repeat(129), '😀'.repeat(65)]) {
    t.match(normaliseName('sender_name', value), { ok: false, failure: { code: 'invalid_name' } });
  }
});

t.test('control characters and broken Unicode are refused, and the field is named', async t => {
  for (const value of ['a\nb', 'a\u0000b', 'a\u007fb', 'a\u0085b', 'a\r\nBcc: x', 'a\ud800b']) {
    const result = normaliseName('sender_name', value);
    t.match(
      result,
      { ok: false, failure: { code: 'invalid_name', message: /sender_name/ } },
      JSON.stringify(value),
    );
  }
});

t.test('what is accepted stays as it is when it is given again', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const once = normaliseName('name', text);
        if (!once.ok) return true;
        const again = normaliseName('name', once.value);
        return again.ok && again.value === once.value;
      }),
    ),
  );
});
