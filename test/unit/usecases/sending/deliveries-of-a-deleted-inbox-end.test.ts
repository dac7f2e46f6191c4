import t from 'tap';
import type { InboxId } from '../../../../src/domain/ids.js';
import { getSent } from '../../../../src/store/mailbox/messages.js';
import { hasEnded } from '../../../../src/store/records/deliveries.js';
import { getInbox, removeInbox } from '../../../../src/store/records/inboxes.js';
import { eraseMessage } from '../../../../src/usecases/mailbox/message-access.js';
import { countChunks } from '../../store/with-blobs.js';
import type { House } from '../with-house.js';
import { FAILED, LATER, withDeliveries } from './with-deliveries.js';

function dropInbox({ store, clock }: House, inbox: string): Promise<void> {
  return store.write(writer => removeInbox(writer, getInbox(writer, inbox as InboxId)!, clock()), 'settle');
}

t.test(
  'erasing the sent copies of a deleted inbox ends what waits, at once and without a notice',
  async t => {
    const { desk, house, inbox } = await withDeliveries(t);
    desk.answers.set('a@far.example', LATER).set('b@far.example', FAILED);
    desk.hasRoom = false;
    const sentId = await desk.send(inbox, 'a@far.example', 'b@far.example');
    const [delivery] = desk.of(sentId);
    await desk.deliver(delivery!.id);
    t.notOk(hasEnded(desk.of(sentId)[0]!), 'it waits for its next attempt, and a notice is owed');
    await dropInbox(house, inbox);
    await house.store.write(
      writer => eraseMessage(writer, getSent(writer, sentId)!, house.clock()),
      'settle',
    );
    t.same(desk.of(sentId), [], 'its record is gone');
    t.equal(await desk.deliver(delivery!.id), undefined);
    t.same(desk.notices, []);
  },
);

t.test(
  'a delivery that comes due after its inbox was deleted has nothing left, a notice included',
  async t => {
    const { desk, house, inbox } = await withDeliveries(t);
    desk.answers.set('a@far.example', LATER).set('b@far.example', FAILED);
    desk.hasRoom = false;
    const sentId = await desk.send(inbox, 'a@far.example', 'b@far.example');
    const [delivery] = desk.of(sentId);
    await desk.deliver(delivery!.id);
    await dropInbox(house, inbox);
    t.equal(await desk.deliver(delivery!.id), undefined);
    t.ok(desk.of(sentId).every(hasEnded));
    t.equal(desk.jobs.length, 1, 'it was not tried again');
  },
);

t.test('one that a process left behind a final dot ends too, and frees its bytes', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  let isMarked = false;
  desk.answers.set('a@far.example', async job => {
    isMarked = await job.beforeDot(job.recipients);
    return new Promise(() => {});
  });
  const sentId = await desk.send(inbox, 'a@far.example');
  const [delivery] = desk.of(sentId);
  void desk.deliver(delivery!.id);
  while (!isMarked) await new Promise(resolve => setImmediate(resolve));
  await dropInbox(house, inbox);
  await house.store.write(writer => eraseMessage(writer, getSent(writer, sentId)!, house.clock()), 'settle');
  t.equal(await desk.deliver(delivery!.id), undefined);
  t.same(desk.of(sentId), []);
  t.same(desk.notices, []);
  await house.sweepAll();
  t.equal(countChunks(house.store), 0);
});

t.test('no final dot leaves after the inbox was deleted', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  let mayLeave: boolean | null = null;
  desk.answers.set('a@far.example', async job => {
    await dropInbox(house, inbox);
    mayLeave = await job.beforeDot(job.recipients);
    return { state: 'later', code: '4.3.2', reply: '' };
  });
  const sentId = await desk.send(inbox, 'a@far.example');
  await desk.deliver(desk.of(sentId)[0]!.id);
  t.equal(mayLeave, false);
});
