import fc from 'fast-check';
import t from 'tap';
import { NameLedger, SumLedger } from '../../../../src/store/verify/ledger.js';

const entry = fc.string({ maxLength: 4 });

t.test('sums are even exactly when both sides hold the same, in whatever order', t => {
  fc.assert(
    fc.property(fc.array(entry), fc.array(entry), (expected, found) => {
      const sums = new SumLedger();
      for (const one of expected) sums.expect(one);
      for (const one of found) sums.find(one);
      const isSame = JSON.stringify([...expected].sort()) === JSON.stringify([...found].sort());
      return (sums.differing().length === 0) === isSame;
    }),
  );
  t.end();
});

t.test('the second reading names what differs and nothing else', t => {
  const sums = new SumLedger();
  const read = (ledger: {
    expect(entry: string, times?: number): void;
    find(entry: string, times?: number): void;
  }) => {
    for (let n = 0; n < 20_000; n++) {
      if (n !== 4_711) ledger.find(`entry ${n}`);
      ledger.expect(`entry ${n}`);
    }
    ledger.find('a stranger');
    ledger.expect('shared', 3);
    ledger.find('shared', 2);
    ledger.find('shared');
  };
  read(sums);
  const names = new NameLedger(sums.differing());
  read(names);
  t.same(names.faults().sort(), ['missing: entry 4711', 'there without reason: a stranger']);
  t.end();
});
