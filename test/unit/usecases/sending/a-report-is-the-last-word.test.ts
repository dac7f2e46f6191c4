import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { noteBounce } from '../../../../src/usecases/sending/note-bounce.js';
import { DELIVERED, FAILED, HOUR_MS, LATER, withDeliveries } from './with-deliveries.js';

const faultsOf = (house: { store: Parameters<typeof verifyStore>[0] }) => verifyStore(house.store).faults;

t.test(
  'a report is the last word about any that has not failed, and one that waits is not tried any more',
  async t => {
    const { desk, house, inbox } = await withDeliveries(t);
    desk.answers.set('b@one.example', LATER).set('c@one.example', LATER).set('d@one.example', FAILED);
    desk.answers.set('e@two.example', LATER);
    const id = await desk.send(
      inbox,
      ...['a@one.example', 'b@one.example', 'c@one.example', 'd@one.example', 'e@two.example'],
    );
    for (const delivery of desk.of(id)) await desk.deliver(delivery.id);
    const news = { sentId: id, kind: 'failed', status: '5.2.2', diagnostic: 'full' } as const;
    await house.store.write(writer => {
      for (const recipient of ['a@one.example', 'b@one.example', 'd@one.example', 'e@two.example']) {
        noteBounce(house.clock)(writer, { ...news, recipient });
      }
    });
    t.same(desk.states(id), {
      'a@one.example': 'failed',
      'b@one.example': 'failed',
      'c@one.example': 'queued',
      'd@one.example': 'failed',
      'e@two.example': 'failed',
    });
    const [one, two] = desk.of(id);
    t.match(one!.recipients, [{ code: '5.2.2', reply: 'full' }, {}, {}, { code: '5.1.1', reply: /nobody/ }]);
    t.match([one!.nextAt !== null, two!.nextAt, two!.dueAt], [true, null, null]);
    house.now.ms += HOUR_MS;
    desk.jobs.length = 0;
    for (const delivery of [one!, two!]) await desk.deliver(delivery.id);
    t.same(
      desk.jobs.map(({ recipients }) => recipients),
      [['c@one.example']],
    );
    t.same(faultsOf(house), []);
  },
);

t.test('a report while the answer to the dot is waited for stands, whatever the answer', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  const news = { sentId: '' as MessageId, recipient: 'a@one.example', kind: 'failed' } as const;
  desk.answers.set('a@one.example', async job => {
    t.ok(await job.beforeDot(job.recipients));
    const reported = { ...news, sentId: id, status: '5.1.1', diagnostic: 'nobody' };
    await house.store.write(writer => noteBounce(house.clock)(writer, reported));
    return DELIVERED as object;
  });
  const id = await desk.send(inbox, 'a@one.example');
  t.equal(await desk.deliver(desk.of(id)[0]!.id), undefined);
  t.match(desk.of(id), [{ dueAt: null, recipients: [{ state: 'failed', reply: 'nobody' }] }]);
  t.same(desk.notices, []);
  await house.sweepAll();
  t.same(faultsOf(house), []);
});

t.test('who complains has the message, and the delivery says that they did', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('b@one.example', { state: 'unknown', code: '4.4.2', reply: 'cut off' });
  desk.answers.set('c@one.example', FAILED).set('d@one.example', LATER);
  const all = ['a@one.example', 'b@one.example', 'c@one.example', 'd@one.example'];
  const id = await desk.send(inbox, ...all);
  await desk.deliver(desk.of(id)[0]!.id);
  await house.store.write(writer => {
    for (const recipient of all) {
      const news = { sentId: id, recipient, kind: 'complaint', status: null, diagnostic: null } as const;
      noteBounce(house.clock)(writer, news);
    }
  });
  const [delivery] = desk.of(id);
  t.match(delivery!.recipients, [
    { state: 'delivered', code: '2.0.0', reply: /abuse/ },
    { state: 'delivered', reply: /abuse/ },
    { state: 'failed', reply: /nobody/ },
    { state: 'queued', reply: /greylisted/ },
  ]);
  t.same(faultsOf(house), []);
});

t.test('a report about one whose notice is still owed stands for the notice, and ends it', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@one.example', { state: 'unknown', code: '4.4.2', reply: 'cut off' });
  const id = await desk.send(inbox, 'a@one.example');
  const delivery = desk.of(id)[0]!.id;
  desk.hasRoom = false;
  t.equal(await desk.deliver(delivery), 60_000);
  const news = { sentId: id, recipient: 'a@one.example', kind: 'failed', status: '5.2.2' } as const;
  await house.store.write(writer => noteBounce(house.clock)(writer, { ...news, diagnostic: 'full' }));
  t.match(desk.of(id), [{ dueAt: null, recipients: [{ state: 'failed', isTold: true }] }]);
  t.equal(await desk.deliver(delivery), undefined);
  t.same(faultsOf(house), []);
});

t.test('an address that the message has in several spellings is one', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  const id = await desk.send(inbox, 'Ann@one.example', 'Ann@ONE.example', 'ann@one.example', 'b@one.example');
  await desk.deliver(desk.of(id)[0]!.id);
  const news = { sentId: id, kind: 'failed', status: '5.1.1', diagnostic: 'nobody' } as const;
  await house.store.write(writer =>
    noteBounce(house.clock)(writer, { ...news, recipient: 'Ann@ONE.example' }),
  );
  t.same(desk.states(id), {
    'Ann@one.example': 'failed',
    'ann@one.example': 'failed',
    'b@one.example': 'delivered',
  });
});
