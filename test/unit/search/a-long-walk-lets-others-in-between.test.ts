import fc from 'fast-check';
import t from 'tap';
import { Strides } from '../../../src/search/strides.js';

const lengthOf = ({ from, to }: { from: number; to: number }): number => to - from;

t.test('the strides of a range follow each other from one end to the other', async t => {
  const millisecond = fc.constantFrom(0, 1, 7, 9, 31, 33, 400);
  fc.assert(
    fc.property(
      fc.nat(5_000_000),
      fc.nat(200_000),
      fc.boolean(),
      fc.array(millisecond, { minLength: 1 }),
      (from, length, isDescending, times) => {
        const whole = { from, to: from + length };
        const strides = new Strides(whole, isDescending);
        let at = isDescending ? whole.to : whole.from;
        for (let range = strides.first, turn = 0; range !== null; turn++) {
          t.ok(lengthOf(range) > 0);
          t.equal(isDescending ? range.to : range.from, at);
          at = isDescending ? range.from : range.to;
          range = strides.behind(range, times[turn % times.length] ?? 0);
        }
        t.equal(at, isDescending ? whole.from : whole.to);
      },
    ),
  );
});

t.test('they grow while they are quick, and are short where they are slow', async t => {
  const whole = { from: 0, to: 10_000_000 };
  const quick = new Strides(whole, true);
  let count = 0;
  for (let range = quick.first; range !== null; range = quick.behind(range, 0.1)) count += 1;
  t.ok(count < 10, `${count} questions for ten million messages that hold nothing`);
  const slow = new Strides(whole, true);
  let range = slow.first;
  for (let turn = 0; turn < 20 && range !== null; turn++) range = slow.behind(range, 50);
  t.equal(range === null ? 0 : lengthOf(range), 16_384);
});
