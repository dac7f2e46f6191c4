import t from 'tap';
import { failingAt, fullAt } from './failing-store.js';
import { type Answer, DeliveringDesk, withDeliveries } from './with-deliveries.js';

const ONE = 'a@far.example';
const STORES = {
  full: fullAt,
  'failing, the unit lost': (...[store, at]: Parameters<typeof fullAt>) => failingAt(store, at, 'lost'),
  'failing, the unit landed': (...[store, at]: Parameters<typeof fullAt>) => failingAt(store, at, 'landed'),
} as const;
const ANSWERS = {
  delivered: { state: 'delivered', code: '2.0.0', reply: '250 ok' },
  failed: { state: 'failed', code: '5.6.0', reply: '550 5.6.0 no' },
  unknown: { state: 'unknown', code: '4.4.2', reply: 'no answer' },
} as const;

for (const [claim, make] of Object.entries(STORES)) {
  for (const [wanted, said] of Object.entries(ANSWERS)) {
    t.test(`${claim}, whichever unit it is: one dot at most, and it ends (${wanted})`, async t => {
      for (let at = 1, isMore = true; isMore; at++) {
        const { desk, house, inbox } = await withDeliveries(t);
        const sentId = await desk.send(inbox, ONE);
        const { id } = desk.of(sentId)[0]!;
        let dots = 0;
        const answer: Answer = async job => {
          if (!(await job.beforeDot([ONE]))) return { state: 'later', code: '4.3.2', reply: 'put off' };
          dots += 1;
          return said;
        };
        const bad = make(house.store, at);
        const onBad = new DeliveringDesk({ ...house, store: bad.store });
        onBad.answers.set(ONE, answer);
        desk.answers.set(ONE, answer);
        await onBad.deliver(id).catch(() => undefined);
        isMore = bad.writes() >= at;
        // There is room again, or the process has started again.
        for (let look = 0; look < 3; look++) await desk.deliver(id);
        t.equal(dots <= 1, true, `unit ${at}: ${dots} dots`);
        const { state, isTold } = desk.of(sentId)[0]!.recipients[0]!;
        t.ok(state === wanted || state === 'unknown', `unit ${at}: ${state}`);
        t.ok(dots === 1 || state === 'unknown', 'who had no dot is not said to have it');
        const told = [...onBad.notices, ...desk.notices].length;
        // A notice stands in the commit that says it was given.
        t.equal(isTold, state !== 'delivered', `unit ${at}: what went wrong is told`);
        t.ok(told <= 1, 'and once');
        t.equal(desk.of(sentId)[0]!.dueAt, null, 'and it has ended');
      }
    });
  }
}
