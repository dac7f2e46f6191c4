import t from 'tap';
import { pendingWork } from '../../../../src/queue/work-line.js';
import { LONGEST_PAUSE_MS } from '../../../../src/usecases/sending/delivery-states.js';
import { DELIVERED, FAILED, HOUR_MS, LATER, withDeliveries } from './with-deliveries.js';

const DAY_MS = 24 * HOUR_MS;
const TO = 'a@far.example';

t.test('what was planned before the clock was set back by a day is due now, and tried once', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  const listed = () =>
    [...Array(3)].reduce<{ ids: string[]; after?: Buffer }>(
      ({ ids, after }) => {
        const page = pendingWork(house.store, 'deliver', house.clock, LONGEST_PAUSE_MS)(2, after);
        return {
          ids: [...ids, ...page.ids],
          ...(page.next === null ? { after: LAST } : { after: page.next }),
        };
      },
      { ids: [] },
    ).ids;
  desk.answers.set(TO, LATER);
  const all: string[] = [];
  for (let at = 0; at < 5; at++) {
    const { id } = desk.of(await desk.send(inbox, TO))[0]!;
    await desk.deliver(id);
    all.push(id);
  }
  t.same(listed(), [], 'none is due yet');
  house.now.ms -= DAY_MS;
  t.same(listed().toSorted(), all.toSorted(), 'each is listed once, over pages');
  desk.answers.set(TO, DELIVERED);
  for (const id of listed()) t.equal(await desk.deliver(id as never), undefined);
  t.equal(desk.jobs.length, 10);
  t.same(listed(), []);
});

t.test('set back by an hour, it waits for its time, which is near', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set(TO, LATER);
  const sentId = await desk.send(inbox, TO);
  const { id } = desk.of(sentId)[0]!;
  await desk.deliver(id);
  house.now.ms -= HOUR_MS;
  const againMs = await desk.deliver(id);
  t.ok(againMs! > HOUR_MS && againMs! < HOUR_MS + 70_000);
  t.equal(desk.jobs.length, 1);
});

t.test('a clock that is a day ahead and in doubt tells nobody of a delay, and gives nothing up', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set(TO, LATER);
  const sentId = await desk.send(inbox, TO);
  const { id } = desk.of(sentId)[0]!;
  await desk.deliver(id);
  house.now.ms += DAY_MS;
  house.now.isInDoubt = true;
  for (let look = 0; look < 3; look++) {
    const againMs = await desk.deliver(id);
    t.ok(againMs! >= 50_000, 'it is not looked at without a pause');
  }
  t.equal(desk.jobs.length, 2, 'it is tried, as it is due by the clock');
  t.same(desk.notices, []);
  t.match(desk.of(sentId), [{ recipients: [{ state: 'queued' }] }]);

  house.now.ms -= DAY_MS;
  house.now.isInDoubt = false;
  await desk.deliver(id);
  t.equal(desk.jobs.length, 3, 'the clock is right again: what was planned by the wrong one is due');
  house.now.ms += 5 * HOUR_MS;
  await desk.deliver(id);
  await desk.deliver(id);
  t.same(
    desk.notices.map(({ notice }) => notice),
    ['delayed'],
    'told when it is true, once',
  );
  desk.answers.set(TO, FAILED);
  house.now.ms += 5 * HOUR_MS;
  t.equal(await desk.deliver(id), undefined);
  t.same(
    desk.notices.map(({ notice }) => notice),
    ['delayed', 'ended'],
  );
});

/** Behind every position. */
const LAST = Buffer.alloc(32, 0xff);
