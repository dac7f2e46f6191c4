import t from 'tap';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';

import { FAILED, HOUR_MS, LATER, withDeliveries } from './with-deliveries.js';

const [A, B, C] = ['a@one.example', 'b@two.example', 'c@three.example'] as const;

const namesIn = (
  notices: readonly { deliveries: readonly { recipients: readonly { address: string }[] }[] }[],
) =>
  notices.map(({ deliveries }) =>
    deliveries.flatMap(({ recipients }) => recipients.map(({ address }) => address)).sort(),
  );

t.test('what fails at several domains within some seconds is told at once', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set(A, FAILED).set(B, FAILED);
  const id = await desk.send(inbox, A, B, C);
  const [one, two, three] = desk.of(id).map(delivery => delivery.id);
  t.equal(await desk.deliver(one!), 500);
  house.now.ms += 500;
  t.equal(await desk.deliver(two!), 500);
  t.equal(await desk.deliver(three!), undefined);
  t.same(desk.notices, []);
  t.equal(await desk.deliver(one!), undefined);
  t.equal(await desk.deliver(two!), undefined);
  t.same(namesIn(desk.notices), [[A, B]]);
  t.match(desk.of(id), [{ dueAt: null }, { dueAt: null }, { dueAt: null }]);
  t.same(verifyStore(house.store).faults, []);
});

t.test('a domain that takes long holds up the news of others for some seconds', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set(A, FAILED);
  const id = await desk.send(inbox, A, B);
  const [one] = desk.of(id).map(delivery => delivery.id);
  let waitedMs = 0;
  for (let pause = await desk.deliver(one!); pause !== undefined; pause = await desk.deliver(one!)) {
    house.now.ms += pause;
    waitedMs += pause;
  }
  t.equal(waitedMs, 10_000);
  t.same(namesIn(desk.notices), [[A]]);
});

t.test('of a delay at several domains it is told once', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set(A, LATER).set(B, LATER);
  const id = await desk.send(inbox, A, B);
  const [one, two] = desk.of(id).map(delivery => delivery.id);
  let release = (): void => {};
  desk.beforeTelling = () =>
    new Promise(resolve => {
      release = resolve;
    });
  for (const each of [one!, two!]) await desk.deliver(each);
  house.now.ms += 4 * HOUR_MS;
  const first = desk.deliver(one!);
  while (desk.jobs.length < 3) await new Promise(resolve => setImmediate(resolve));
  await new Promise(resolve => setTimeout(resolve, 50));
  t.equal(await desk.deliver(two!), 500, 'while the other tells');
  release();
  await first;
  await desk.deliver(two!);
  t.match(desk.notices, [{ notice: 'delayed' }]);
  t.same(namesIn(desk.notices), [[A, B]]);
  t.match(desk.of(id), [{ toldDelay: true }, { toldDelay: true }]);
  t.same(verifyStore(house.store).faults, []);
});

t.test('news that come while a notice is on its way are told in the next', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set(A, FAILED).set('x@two.example', FAILED).set(B, LATER);
  const id = await desk.send(inbox, A, B, 'x@two.example');
  const [one, two] = desk.of(id).map(delivery => delivery.id);
  t.equal(await desk.deliver(one!), 500);
  desk.hasRoom = false;
  await desk.deliver(two!);
  desk.hasRoom = true;
  desk.answers.set(B, FAILED);
  desk.beforeTelling = async () => {
    desk.beforeTelling = async () => {};
    house.now.ms = Math.max(...desk.of(id).map(({ nextAt }) => nextAt ?? 0));
    t.equal(await desk.deliver(two!), 500);
  };
  await desk.deliver(one!);
  t.equal(await desk.deliver(two!), undefined);
  t.match(
    desk.notices.map(({ deliveries }) => deliveries.flatMap(({ recipients }) => recipients)),
    [
      [{ address: A }, { address: B, state: 'queued' }, { address: 'x@two.example', state: 'failed' }],
      [
        { address: B, state: 'failed', isTold: false },
        { address: 'x@two.example', isTold: true },
      ],
    ],
  );
  t.match(desk.states(id), { [B]: 'failed' });
  t.same(verifyStore(house.store).faults, []);
});
