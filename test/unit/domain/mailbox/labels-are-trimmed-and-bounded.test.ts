import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import {
  normaliseLabels as normaliseAll,
  normaliseLabel as normaliseOne,
  sortLabels,
} from '../../../../src/domain/labels.js';

const normaliseLabel = (text: string) => resultOf(() => normaliseOne(text));
const normaliseLabels = (what: string, names: string[]) => resultOf(() => normaliseAll(what, names));

const refused = { ok: false, failure: { code: 'invalid_labels' } };

t.test('surrounding white space goes, everything within stays', async t => {
  for (const [written, label] of [
    ['work', 'work'],
    ['  work\n', 'work'],
    ['\t\r\n to do \u00a0\u3000', 'to do'],
    ['a,b', 'a,b'],
    ['Work', 'Work'],
    ['\u{1f4e7}', '\u{1f4e7}'],
    ['a\u200bb', 'a\u200bb'],
    ['"quoted" \\ %', '"quoted" \\ %'],
  ] as const) {
    t.strictSame(normaliseLabel(written), { ok: true, value: label }, JSON.stringify(written));
  }
});

t.test('128 bytes of UTF-8 fit, counted after trimming', async t => {
  for (const fits of ['x'.repeat(128), `  ${'x'.repeat(128)}  `, 'é'.repeat(64), '\u{1f600}'.repeat(32)]) {
    t.match(normaliseLabel(fits), { ok: true }, `${fits.length} units`);
    t.match(normaliseLabel(`${fits.trim()}y`), refused);
  }
});

t.test('blank ones, control characters and lone surrogates are refused', async t => {
  for (const bad of [
    '',
    ' ',
    '\n\t',
    '\u3000',
    'a\u0000b',
    'a\nb',
    'a\u007f',
    'a\u0085b',
    '\u001fa',
    '\ud83d',
    'a\ude00b',
  ]) {
    t.match(normaliseLabel(bad), refused, JSON.stringify(bad));
  }
});

t.test(
  'what passes is well-formed, trimmed, free of controls, short, and passes again unchanged',
  async t => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(fc.string({ unit: 'binary', maxLength: 140 }), text => {
          const label = normaliseLabel(text);
          if (!label.ok) return true;
          const { value } = label;
          return (
            value === text.trim() &&
            value !== '' &&
            value.isWellFormed() &&
            !/\p{Cc}/u.test(value) &&
            Buffer.byteLength(value) <= 128 &&
            JSON.stringify(normaliseLabel(value)) === JSON.stringify(label)
          );
        }),
        { numRuns: 1000 },
      ),
    );
  },
);

t.test('a group has at most 32 names, repeated ones included; what is left is a set', async t => {
  const names = Array.from({ length: 32 }, (_, n) => `l${n % 3}`);
  t.strictSame(normaliseLabels('labels_all', names), { ok: true, value: ['l0', 'l1', 'l2'] });
  t.match(normaliseLabels('labels_all', [...names, 'l0']), {
    failure: { code: 'invalid_labels', message: /labels_all.*32/ },
  });
  t.strictSame(normaliseLabels('labels_all', [' b', 'b ', 'a']), { ok: true, value: ['a', 'b'] });
  t.match(normaliseLabels('labels_all', ['fine', '']), refused);
});

t.test('their order is that of their bytes in UTF-8', async t => {
  // U+FF5E comes after U+1F600 in the order of UTF-16 units, and before it in the order of UTF-8 bytes.
  t.strictSame(sortLabels(['\u{1f600}', '\u{ff5e}', 'é', 'b', 'B', 'a', '']), [
    '',
    'B',
    'a',
    'b',
    'é',
    '\u{ff5e}',
    '\u{1f600}',
  ]);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), labels => {
        const sorted = sortLabels(labels).map(label => Buffer.from(label));
        return sorted.every((bytes, at) => at === 0 || Buffer.compare(sorted[at - 1]!, bytes) <= 0);
      }),
    ),
  );
});
