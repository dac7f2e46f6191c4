import t from 'tap';
import type { AccountId, ThreadId } from '../../../../src/domain/ids.js';
import { NumberSet } from '../../../../src/store/bitmap/number-set.js';
import { type Ranking, Rankings } from '../../../../src/usecases/search/rankings.js';

const [ann, bob] = ['ann', 'bob'] as AccountId[] as [AccountId, AccountId];
const ofSize = (count: number): Ranking => ({
  type: 'messages',
  seqs: Array.from({ length: count }, (_, n) => n),
});

t.test('an account keeps its latest searches', async t => {
  const rankings = new Rankings({ keptMs: 1_000, perAccount: 2, maxBytes: 1_000_000 }, () => 0);
  const other = rankings.keep(bob, ofSize(1));
  const [first, second] = [rankings.keep(ann, ofSize(1)), rankings.keep(ann, ofSize(2))];
  t.ok(rankings.find(ann, first), 'which is a use of it');
  const third = rankings.keep(ann, ofSize(3));
  t.equal(rankings.find(ann, second), null, 'the one that was used least recently gives way');
  t.ok(rankings.find(ann, first) && rankings.find(ann, third) && rankings.find(bob, other));
  t.equal(rankings.find(bob, first), null, 'nobody has those of others');
});

t.test('all accounts together keep so many bytes, and whoever keeps most gives way', async t => {
  const rankings = new Rankings({ keptMs: 1_000, perAccount: 100, maxBytes: 400_000 }, () => 0);
  const small = rankings.keep(bob, ofSize(10));
  for (let n = 0; n < 100; n++) {
    rankings.keep(ann, ofSize(10_000));
    t.ok(rankings.bytes <= 400_000);
  }
  t.ok(rankings.find(bob, small));
  const found = { received: new NumberSet([1, 10_000_000]), sent: new NumberSet() };
  rankings.keep(bob, { type: 'threads', roots: ['x' as ThreadId], found });
  t.ok(rankings.bytes <= 400_000);
});

t.test('they go when their time is over', async t => {
  const now = { ms: 0 };
  const rankings = new Rankings({ keptMs: 1_000, perAccount: 2, maxBytes: 1_000_000 }, () => now.ms);
  const name = rankings.keep(ann, ofSize(1_000));
  now.ms = 999;
  t.ok(rankings.find(ann, name));
  now.ms = 1_998;
  t.ok(rankings.find(ann, name), 'each use begins it anew');
  now.ms = 2_998;
  t.equal(rankings.find(ann, name), null);
  t.equal(rankings.bytes, 0);
});
