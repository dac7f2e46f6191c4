import fc from 'fast-check';
import t from 'tap';
import { type AccountId, type MessageId, newId } from '../../../../src/domain/ids.js';
import { sufficientCapacityAt } from '../../../../src/domain/quota.js';
import {
  activeCharges,
  addCharge,
  chargeSumsTable,
  chargesTable,
  forgetExpiredCharges,
  releaseCharge,
  usedAllowance,
} from '../../../../src/store/records/charges.js';
import { listDue, removePending } from '../../../../src/store/records/pending.js';
import { withStore } from '../with-store.js';

const DAY = 24 * 60 * 60 * 1000;

type Step =
  | { readonly do: 'charge'; readonly after: number; readonly amount: number }
  | { readonly do: 'release'; readonly which: number }
  | { readonly do: 'sweep'; readonly limit: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('charge' as const),
    after: fc.constantFrom(0, 1, 1000, DAY / 3, DAY - 1, DAY, DAY + 1),
    amount: fc.integer({ min: 1, max: 50 }),
  }),
  fc.record({ do: fc.constant('release' as const), which: fc.nat(9) }),
  fc.record({ do: fc.constant('sweep' as const), limit: fc.integer({ min: 1, max: 3 }) }),
);

t.test('what is used, and when there is enough again, equal a list that is added up', async t => {
  const store = await withStore(t);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
      const accountId = newId<AccountId>(Date.now());
      let nowMs = 1_800_000_000_000;
      let charges: { at: number; amount: number; id: MessageId }[] = [];
      for (const one of steps) {
        if (one.do === 'charge') {
          nowMs += one.after;
          const charge = { at: nowMs, amount: one.amount, id: newId<MessageId>(nowMs) };
          charges.push(charge);
          await store.write(writer => addCharge(writer, { accountId, ...charge }, charge.amount));
        } else if (one.do === 'release') {
          const charge = charges[one.which];
          if (charge === undefined) continue;
          charges = charges.filter(other => other !== charge);
          await store.write(writer => releaseCharge(writer, { accountId, ...charge }));
        } else {
          await store.write(writer => {
            for (const { dueAt, work } of listDue(writer, 'expire-charges', nowMs, 100)) {
              if (work.id !== accountId) continue;
              removePending(writer, { kind: 'expire-charges', dueAt, id: accountId });
              forgetExpiredCharges(writer, accountId, nowMs, one.limit);
            }
          });
        }
        const active = charges.filter(({ at }) => nowMs - at < DAY);
        const used = active.reduce((sum, { amount }) => sum + amount, 0);
        store.read(reader => {
          if (usedAllowance(reader, accountId, nowMs) !== used) throw new Error(`used is not ${used}`);
          const seen = [...activeCharges(reader, accountId, nowMs)].map(
            ({ at, amount }) => `${at} ${amount}`,
          );
          const expected = active.map(({ at, amount }) => `${at} ${amount}`);
          if (seen.sort().join() !== expected.sort().join()) throw new Error('other charges count');
        });
      }
    }),
    { numRuns: 150 },
  );
  t.pass('held');
});

t.test('enough comes with the expiry of the charge that completes it, not of the first', async t => {
  const charges = [
    { at: 1000, amount: 3 },
    { at: 2000, amount: 5 },
    { at: 3000, amount: 17 },
  ];
  const state = { allowance: 25, used: 25 };
  t.equal(sufficientCapacityAt(charges, state, 1), 1000 + DAY);
  t.equal(sufficientCapacityAt(charges, state, 3), 1000 + DAY);
  t.equal(sufficientCapacityAt(charges, state, 4), 2000 + DAY);
  t.equal(sufficientCapacityAt(charges, state, 9), 3000 + DAY);
  t.equal(sufficientCapacityAt(charges, state, 25), 3000 + DAY);
  t.equal(sufficientCapacityAt(charges, state, 26), null, 'waiting does not help');
  t.equal(
    sufficientCapacityAt(charges, { allowance: 10, used: 25 }, 5),
    3000 + DAY,
    'an allowance that was lowered',
  );
});

t.test('nothing is left of an account whose charges have all expired', async t => {
  const store = await withStore(t);
  const accountId = newId<AccountId>(0);
  const at = 1_800_000_000_000;
  await store.write(writer => addCharge(writer, { accountId, at, id: newId<MessageId>(at) }, 2));
  t.equal(
    store.read(reader => usedAllowance(reader, accountId, at + DAY - 1)),
    2,
  );
  t.equal(
    store.read(reader => usedAllowance(reader, accountId, at + DAY)),
    0,
    'swept or not',
  );
  await store.write(writer => forgetExpiredCharges(writer, accountId, at + DAY, 100));
  t.equal(
    store.read(reader => reader.get(chargeSumsTable, accountId)),
    undefined,
  );
  const left = store.read(reader =>
    reader.scanKeys(chargesTable, { from: Buffer.alloc(0), to: Buffer.alloc(40, 0xff), limit: 10 }),
  );
  t.same(left, []);
});
