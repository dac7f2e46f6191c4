import t from 'tap';
import { getSent } from '../../../../src/store/mailbox/messages.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { deleteMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import {
  cancelDeliveries,
  listQueue,
  retryDeliveries,
} from '../../../../src/usecases/sending/delivery-admin.js';
import { listDeliveries } from '../../../../src/usecases/sending/list-deliveries.js';
import { retryUnknown } from '../../../../src/usecases/sending/retry-unknown.js';
import { countChunks } from '../../store/with-blobs.js';
import { DELIVERED, FAILED, HOUR_MS, LATER, withDeliveries } from './with-deliveries.js';

const faultsOf = (house: { store: Parameters<typeof verifyStore>[0] }) => verifyStore(house.store).faults;

t.test('accepted at once: one delivery a domain, on disk with the reservation', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  const id = await desk.send(inbox, 'a@one.example', 'b@two.example', 'c@ONE.example');
  t.match(
    house.store.read(reader => getSent(reader, id)),
    { status: 'accepted', attempt: 'settled' },
  );
  t.same(
    desk.of(id).map(({ domain, recipients }) => [domain, recipients.map(({ address }) => address)]),
    [
      ['one.example', ['a@one.example', 'c@ONE.example']],
      ['two.example', ['b@two.example']],
    ],
  );
  t.same(desk.offered, desk.of(id));
  t.equal(listQueue(house, 10).deliveries.length, 2);
  t.match(listQueue(house, 1), { deliveries: { length: 1 }, has_more: true });
  t.same(faultsOf(house), []);
  for (const { id: delivery } of desk.of(id)) t.equal(await desk.deliver(delivery), undefined);
  t.same(desk.states(id), {
    'a@one.example': 'delivered',
    'c@ONE.example': 'delivered',
    'b@two.example': 'delivered',
  });
  t.equal(desk.jobs[0]?.content.toString(), desk.jobs[1]?.content.toString(), 'the same bytes for all');
  t.match(listDeliveries(house, { accountId: house.account, messageId: id }), {
    message_id: id,
    deliveries: [
      { recipient: 'a@one.example', state: 'delivered', attempts: 1, next_attempt_at: null },
      {},
      {},
    ],
  });
  await house.sweepAll();
  t.equal(countChunks(house.store), 1, 'the bodies of the sent copy: the transmitted bytes are free');
  t.same(faultsOf(house), []);
});

t.test('a good and a bad recipient, and one to be tried again', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('bad@one.example', FAILED);
  desk.answers.set('slow@one.example', LATER);
  const id = await desk.send(inbox, 'good@one.example', 'bad@one.example', 'slow@one.example');
  const delivery = desk.of(id)[0]!.id;
  const againMs = await desk.deliver(delivery);
  t.ok(againMs! >= 54_000 && againMs! <= 66_000, `again after ${againMs} ms`);
  t.same(desk.states(id), {
    'good@one.example': 'delivered',
    'bad@one.example': 'failed',
    'slow@one.example': 'queued',
  });
  t.match(desk.notices, [{ notice: 'ended' }]);
  t.equal(await desk.deliver(delivery), againMs, 'not before it is due');
  t.equal(desk.jobs.length, 1);
  desk.answers.set('slow@one.example', DELIVERED);
  house.now.ms += againMs!;
  t.equal(await desk.deliver(delivery), undefined);
  t.same(desk.jobs[1]?.recipients, ['slow@one.example']);
  t.equal(desk.notices.length, 1, 'who was told is not told again');
  t.same(faultsOf(house), []);
});

t.test('pauses grow, the sender hears of a delay once, and what waits is given up in the end', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@one.example', LATER);
  const id = await desk.send(inbox, 'a@one.example');
  const { id: delivery, createdAt } = desk.of(id)[0]!;
  const pauses: number[] = [];
  const toldAt: number[] = [];
  let triedAt = createdAt;
  for (let pause = await desk.deliver(delivery); pause !== undefined; pause = await desk.deliver(delivery)) {
    if (desk.jobs.length > pauses.length + 1) {
      pauses.push(Math.round((house.now.ms - triedAt) / 60_000));
      triedAt = house.now.ms;
    }
    if (desk.notices.length > toldAt.length) toldAt.push(house.now.ms - createdAt);
    house.now.ms += pause;
  }
  for (const [at, minutes] of [1, 5, 15, 30, 60, 120, 240, 240].entries()) {
    t.ok(Math.abs(pauses[at]! - minutes) <= 0.1 * minutes + 1, `pause ${at + 1}: ${pauses[at]} minutes`);
  }
  t.same(
    desk.notices.map(({ notice }) => notice),
    ['delayed', 'ended'],
  );
  t.same(toldAt, [4 * HOUR_MS], 'of the delay after four hours, whenever it is tried');
  t.ok(house.now.ms - createdAt <= 49 * HOUR_MS);
  t.match(desk.of(id), [
    { dueAt: null, recipients: [{ state: 'failed', code: '4.4.7', reply: /48 hours.*greylisted/ }] },
  ]);
  t.same(faultsOf(house), []);
});

t.test(
  'the mark is on disk before the dot: ended there, the process leaves an unknown that nothing tries again',
  async t => {
    const { desk, house, inbox } = await withDeliveries(t);
    let marked: Record<string, string> = {};
    desk.answers.set('a@one.example', async job => {
      t.ok(await job.beforeDot(['a@one.example']));
      marked = desk.states(id);
      return new Promise(() => {});
    });
    const id = await desk.send(inbox, 'a@one.example', 'b@two.example');
    const [one, two] = desk.of(id);
    void desk.deliver(one!.id);
    while (marked['a@one.example'] === undefined) await new Promise(resolve => setImmediate(resolve));
    t.same(marked, { 'a@one.example': 'sending', 'b@two.example': 'queued' });
    t.same(faultsOf(house), []);
    desk.answers.clear();
    t.equal(await desk.deliver(one!.id), 500, 'the other may fail, too');
    house.now.ms += 10_000;
    t.equal(await desk.deliver(one!.id), undefined);
    t.same(desk.states(id), { 'a@one.example': 'unknown', 'b@two.example': 'queued' });
    t.equal(desk.jobs.length, 1, 'it is told, not tried');
    t.match(desk.notices, [{ notice: 'ended', deliveries: [{ recipients: [{ state: 'unknown' }] }] }]);
    await t.rejects(
      retryDeliveries(house, id)
        .then(() => desk.deliver(two!.id))
        .then(() => retryDeliveries(house, id)),
      /--even-if-delivered/,
    );
    t.same(faultsOf(house), []);
  },
);

t.test('cancelled, it is not tried any more, and a dot that is about to leave does not', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@one.example', async job => {
    t.same(await cancelDeliveries(house, id), { message_id: id, recipients: ['a@one.example'] });
    t.equal(await job.beforeDot(['a@one.example']), false);
    return LATER as object;
  });
  const id = await desk.send(inbox, 'a@one.example');
  t.equal(await desk.deliver(desk.of(id)[0]!.id), undefined);
  t.same(desk.states(id), { 'a@one.example': 'cancelled' });
  t.same(desk.notices, []);
  t.same(faultsOf(house), []);
});

t.test('without its sent copy it goes on, and leaves nothing; without its inbox it ends', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  const owner = { accountId: house.account };
  const [kept, ended] = [await desk.send(inbox, 'a@one.example'), await desk.send(inbox, 'a@one.example')];
  const [delivery] = desk.of(kept);
  await desk.deliver(desk.of(ended)[0]!.id);
  for (const messageId of [kept, ended]) await deleteMessage(house, { ...owner, messageId, kind: 'sent' });
  t.same(desk.of(ended), []);
  t.same(faultsOf(house), []);
  t.equal(await desk.deliver(delivery!.id), undefined);
  t.equal(desk.jobs.length, 2);
  t.same(desk.of(kept), []);
  const last = await desk.send(inbox, 'a@one.example');
  const [orphan] = desk.of(last);
  await deleteInbox(house, { ...owner, inboxId: inbox });
  t.equal(await desk.deliver(orphan!.id), undefined);
  t.equal(desk.jobs.length, 2);
  t.same(desk.notices, []);
  await house.sweepAll();
  t.same(faultsOf(house), []);
  t.equal(countChunks(house.store), 0);
});

t.test('a notice that finds no room is owed until it does', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@one.example', FAILED);
  const id = await desk.send(inbox, 'a@one.example');
  const [delivery] = desk.of(id);
  desk.hasRoom = false;
  t.equal(await desk.deliver(delivery!.id), 60_000);
  t.equal(await desk.deliver(delivery!.id), 60_000);
  t.equal(desk.jobs.length, 1);
  desk.hasRoom = true;
  t.equal(await desk.deliver(delivery!.id), undefined);
  t.equal(desk.notices.length, 1);
  t.same(faultsOf(house), []);
});

t.test('an unknown one is sent again only where an admin says so, and with the same bytes', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@one.example', { state: 'unknown', code: '4.4.2', reply: 'cut off' });
  const id = await desk.send(inbox, 'a@one.example', 'b@one.example');
  const delivery = desk.of(id)[0]!.id;
  t.equal(await desk.deliver(delivery), undefined);
  await house.sweepAll();
  desk.answers.set('a@one.example', LATER);
  const deps = { ...house, signer: null };
  t.same(await retryUnknown(deps, id), { message_id: id, recipients: ['a@one.example'] });
  t.same(faultsOf(house), []);
  const pauseMs = await desk.deliver(delivery);
  t.ok(pauseMs! < 70_000, `its pauses begin anew: ${pauseMs} ms`);
  desk.answers.clear();
  house.now.ms += pauseMs!;
  t.equal(await desk.deliver(delivery), undefined);
  t.same(desk.jobs[1]?.recipients, ['a@one.example']);
  t.ok(Buffer.from(desk.jobs[1]!.content).equals(desk.jobs[0]!.content));
  t.same(desk.states(id), { 'a@one.example': 'delivered', 'b@one.example': 'delivered' });
  await t.rejects(retryUnknown(deps, id), /nothing to send again/);
  await house.sweepAll();
  t.same(faultsOf(house), []);
});

t.test('by a clock that may be wrong nothing is given up, nor tried more often', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@one.example', LATER);
  const id = await desk.send(inbox, 'a@one.example');
  const { id: delivery, createdAt } = desk.of(id)[0]!;
  house.now.ms = createdAt + 365 * 24 * HOUR_MS;
  house.now.isInDoubt = true;
  for (const minutes of [1, 5]) {
    const pauseMs = await desk.deliver(delivery);
    t.ok(Math.abs(pauseMs! - minutes * 60_000) <= 6_000 * minutes, `${minutes} minutes: ${pauseMs} ms`);
    house.now.ms += pauseMs!;
  }
  t.match(desk.of(id), [{ attempts: 2, recipients: [{ state: 'queued' }] }]);
  house.now.isInDoubt = false;
  t.equal(await desk.deliver(delivery), undefined);
  t.match(desk.of(id), [{ recipients: [{ state: 'failed', code: '4.4.7' }] }]);
  t.same(faultsOf(house), []);
});

t.test('an address that does not exist is learnt by the account that sent there', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('gone@one.example', FAILED);
  const first = await desk.send(inbox, 'gone@one.example');
  await desk.deliver(desk.of(first)[0]!.id);
  const second = await desk.send(inbox, 'gone@one.example');
  t.match(
    house.store.read(reader => getSent(reader, second)),
    {
      status: 'rejected',
      errorCode: 'E_RECIPIENT_SUPPRESSED',
    },
  );
  t.same(desk.of(second), []);
  await house.sweepAll();
  t.same(faultsOf(house), []);
});

t.test('so is a domain that takes no mail, but no inbox of ours that is not there yet', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  desk.answers.set('a@absent.example', {
    state: 'failed',
    host: null,
    code: '5.1.2',
    reply: 'no such domain',
  });
  desk.answers.set('a@null.example', { state: 'failed', host: null, code: '5.1.10', reply: 'null MX' });
  desk.answers.set('next@example.org', { state: 'failed', host: null, code: '5.1.1', reply: 'no inbox' });
  const statusOf = async (address: string) => {
    const id = await desk.send(inbox, address);
    for (const { id: delivery } of desk.of(id)) await desk.deliver(delivery);
    return house.store.read(reader => getSent(reader, id))?.status;
  };
  for (const address of ['a@absent.example', 'a@null.example']) {
    t.equal(await statusOf(address), 'accepted');
    t.equal(await statusOf(address), 'rejected', address);
  }
  t.equal(await statusOf('next@example.org'), 'accepted');
  t.equal(await statusOf('next@example.org'), 'accepted');
  t.same(faultsOf(house), []);
});
