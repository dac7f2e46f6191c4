import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import {
  applyLabelChange,
  normaliseLabelChange as normalise,
  sortLabels,
} from '../../../../src/domain/labels.js';

const normaliseLabelChange = (add: string[], remove: string[]) => resultOf(() => normalise(add, remove));

const refused = { ok: false, failure: { code: 'invalid_labels' } };

t.test('a change names a label, and none on both sides', async t => {
  t.match(normaliseLabelChange([], []), refused);
  t.match(normaliseLabelChange(['a'], [' a ']), refused, 'after trimming');
  t.match(normaliseLabelChange(['a'], ['A']), { ok: true }, 'letter case matters');
  t.match(normaliseLabelChange(['a', ''], []), refused);
  t.match(normaliseLabelChange([], ['a\u0000']), refused);
  t.match(normaliseLabelChange(Array(33).fill('a'), []), refused, '33 names, if all the same');
  t.match(normaliseLabelChange([], Array(33).fill('a')), refused);
  t.strictSame(normaliseLabelChange(['b', ' a', 'b'], ['c ']), {
    ok: true,
    value: { add: ['a', 'b'], remove: ['c'] },
  });
});

const label = fc.constantFrom<string>('a', 'b', 'c', 'd', 'é');
const set = fc.uniqueArray(label);
const changeOf = (names: fc.Arbitrary<string[]>) =>
  fc
    .tuple(names, names)
    .map(([add, remove]) => ({ add, remove: remove.filter(name => !add.includes(name)) }))
    .filter(({ add, remove }) => add.length + remove.length > 0);
const change = changeOf(set);

t.test(
  'added ones are there, removed ones are not, others stay; twice is once; the order is by bytes',
  async t => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(set, change, (labels, { add, remove }) => {
          const asked = normalise(add, remove);
          const after = applyLabelChange(labels, asked);
          const expected = new Set(labels.filter(name => !remove.includes(name)).concat(add));
          return (
            JSON.stringify(after) === JSON.stringify(sortLabels(expected)) &&
            JSON.stringify(applyLabelChange(after, asked)) === JSON.stringify(after)
          );
        }),
      ),
    );
  },
);

t.test('changes of different labels commute', async t => {
  const one = changeOf(fc.uniqueArray(fc.constantFrom('a', 'b', 'c')));
  const two = changeOf(fc.uniqueArray(fc.constantFrom('d', 'é')));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(set, one, two, (labels, first, second) => {
        const both = applyLabelChange(applyLabelChange(labels, first), second);
        const turned = applyLabelChange(applyLabelChange(labels, second), first);
        return JSON.stringify(both) === JSON.stringify(turned);
      }),
    ),
  );
});

t.test('a message has at most 256 labels; one that has more may lose some', async t => {
  const many = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `l${n + from}`);
  const applied = (labels: readonly string[], change: { add?: string[]; remove?: string[] }) => {
    const result = resultOf(() => applyLabelChange(labels, { add: [], remove: [], ...change }));
    return result.ok ? result.value.length : result.failure.code;
  };
  t.equal(applied(many(255), { add: ['a'] }), 256);
  t.equal(applied(many(256), { add: ['a'] }), 'invalid_labels');
  t.equal(applied(many(256), { add: ['l0'] }), 256, 'one that is there already');
  t.equal(applied(many(256), { add: ['a'], remove: ['l0'] }), 256);
  t.equal(applied(many(300), { remove: ['l0'] }), 299);
  t.equal(applied(many(300), { add: ['a'], remove: ['l0'] }), 300);
  t.equal(applied(many(300), { add: ['a', 'b'], remove: ['l0'] }), 'invalid_labels');
});
