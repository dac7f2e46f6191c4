import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import t from 'tap';
import { Turns } from '../../../src/lib/turns.js';

t.test('an owner with ten thousand items delays the first of another by one', async t => {
  const turns = new Turns<string>();
  for (let n = 1; n <= 10_000; n++) turns.add('ann', `a${n}`);
  t.equal(turns.next(), 'a1');
  turns.add('bob', 'b1');
  turns.add('bob', 'b2');
  turns.add('cid', 'c1');
  t.same(
    Array.from({ length: 6 }, () => turns.next()),
    ['a2', 'b1', 'c1', 'a3', 'b2', 'a4'],
  );
  t.equal(turns.size, 9_996);
  t.equal([...turns.drain()].length, 9_996);
  t.equal(turns.next(), undefined);
});

t.test('nothing is lost, each owner keeps its order, and nobody is passed over twice', async () => {
  const owners = ['ann', 'bob', 'cid', 'dan'] as const;
  const step = fc.oneof(fc.constantFrom(...owners), fc.constant(null));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3_000 }), steps => {
      const turns = new Turns<{ owner: string; n: number }>();
      const waiting = new Map<string, number[]>();
      /** How many were taken since each owner began to wait for its turn. */
      const passed = new Map<string, number>();
      for (const [n, owner] of steps.entries()) {
        if (owner !== null) {
          turns.add(owner, { owner, n });
          if (!waiting.has(owner)) passed.set(owner, 0);
          waiting.set(owner, [...(waiting.get(owner) ?? []), n]);
          continue;
        }
        const taken = turns.next();
        if (taken === undefined) {
          if (waiting.size > 0) return false;
          continue;
        }
        const [first, ...rest] = waiting.get(taken.owner) ?? [];
        if (first !== taken.n) return false;
        for (const [other, count] of passed) passed.set(other, count + 1);
        passed.delete(taken.owner);
        if (rest.length === 0) waiting.delete(taken.owner);
        else {
          waiting.set(taken.owner, rest);
          passed.set(taken.owner, 0);
        }
        if ([...passed.values()].some(count => count > owners.length)) return false;
      }
      return turns.size === [...waiting.values()].flat().length;
    }),
  );
});

t.test('what was taken is not kept in memory, however many still wait', async t => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const turns = new Turns<object>();
  for (let n = 0; n < 100; n++) turns.add('ann', { n });
  const taken = new WeakRef(turns.next() as object);
  await new Promise(resolve => setTimeout(resolve));
  collect();
  t.equal(taken.deref(), undefined);
  t.equal(turns.size, 99);
});
