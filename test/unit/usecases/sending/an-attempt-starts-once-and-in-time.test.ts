import type { Test } from 'tap';
import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { addPending } from '../../../../src/store/records/pending.js';
import { restoreMessage, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { recoverSends } from '../../../../src/usecases/sending/attempt.js';
import { queueStatus, retrySends } from '../../../../src/usecases/sending/queue-admin.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { DAY_MS } from '../with-house.js';
import { faultsOf, receiptOf, type SendingHouse, withSending } from './with-sending.js';

/** Sends that were reserved and never came to the relay: the queue forgot them, and the process ended. */
async function reserved(house: SendingHouse, count = 1): Promise<MessageId[]> {
  house.side.mode = 'drop';
  const ids = [];
  for (let n = 0; n < count; n++) {
    ids.push((await receiptOf(house.submit({ subject: `n${n}` }))).message.id as MessageId);
  }
  return ids;
}

/** What the next process does: it recovers, and its queue is fed from the pending index. */
async function boot(house: SendingHouse) {
  house.restart();
  const recovered = await recoverSends(house);
  await relayPending(house);
  return recovered;
}

async function relayPending(house: SendingHouse): Promise<void> {
  const { pendingRelays, side } = house;
  side.kept.push(...pendingRelays());
  await side.workAll();
}

const houseOf = (t: Test) => withSending(t, { responseTimeoutMs: 1 });
const heldIds = (house: SendingHouse) => queueStatus(house).held.map(({ id }) => id);

t.test('a reserved attempt that is younger than a day is started by the next process, once', async t => {
  const house = await houseOf(t);
  const [id = ''] = await reserved(house);
  t.match(house.sent(id), { attempt: 'reserved', status: 'unknown' });
  house.now.ms += DAY_MS - 1;
  t.same(await boot(house), { unknown: 0, waiting: 1, held: 0 });
  t.match(house.sent(id), { attempt: 'settled', status: 'accepted', relayDueAt: null });
  t.same(await boot(house), { unknown: 0, waiting: 0, held: 0 });
  t.same(house.relay.ids, [id]);
  t.same(faultsOf(house), []);
});

t.test('one that is a day old is held, is seen, and goes out when an admin lets it', async t => {
  const house = await houseOf(t);
  const [id = '', other = ''] = await reserved(house, 2);
  house.now.ms += DAY_MS;
  t.same(await boot(house), { unknown: 0, waiting: 0, held: 2 });
  t.same(await boot(house), { unknown: 0, waiting: 0, held: 0 }, 'it stays as it is');
  t.same(house.relay.ids, []);
  t.match(house.sent(id), { attempt: 'held', status: 'unknown', errorCode: null });
  t.match(queueStatus(house), {
    relay: { waiting: 0, started: 0, oldest_age_s: null },
    held: [
      { id, subject: 'n0', in_trash: false },
      { id: other, subject: 'n1', in_trash: false },
    ],
    is_partial: false,
  });
  t.same(faultsOf(house), []);

  t.same(await retrySends(house, id), { retried: [id] });
  t.same(await retrySends(house, id), { retried: [] }, 'it waits already');
  t.match(queueStatus(house), { relay: { waiting: 1, oldest_age_s: 0 }, held: [{ id: other }] });
  house.now.ms += DAY_MS - 1;
  t.same(await boot(house), { unknown: 0, waiting: 1, held: 0 }, 'its day begins anew');
  t.same(house.relay.ids, [id]);
  t.same(await retrySends(house, null), { retried: [other] });
  await relayPending(house);
  t.same(house.relay.ids, [id, other]);
  t.same(await retrySends(house, null), { retried: [] });
  t.same(faultsOf(house), []);
});

t.test('one that waited a day for Redis is held, though the process never ended', async t => {
  const house = await houseOf(t);
  const [id = ''] = await reserved(house);
  house.now.ms += DAY_MS;
  await relayPending(house);
  t.same(house.relay.ids, [], 'its key protects it no longer: whoever sent it may have sent it again');
  t.same(heldIds(house), [id]);
  t.same(house.pendingRelays(), []);
});

t.test('an attempt that was started is unknown for good', async t => {
  const house = await houseOf(t);
  const handedOver = house.relay.stall();
  const { message } = await receiptOf(house.submit({ cc: [{ address: 'bob@remote.example' }] }));
  await handedOver;
  t.match(message, { status: 'unknown', error_code: null });
  t.match(queueStatus(house), { relay: { waiting: 0, started: 1 } });
  t.match(await outcomeOf(() => retrySends(house, message.id)), {
    failure: { code: 'invalid_request', message: /started/ },
  });
  t.same(await boot(house), { unknown: 1, waiting: 0, held: 0 });
  t.match(house.sent(message.id), {
    attempt: 'settled',
    status: 'unknown',
    errorCode: 'acceptance_unknown',
    relayDueAt: null,
  });
  t.match(await outcomeOf(() => retrySends(house, message.id)), { failure: { code: 'invalid_request' } });
  t.same(await retrySends(house, null), { retried: [] });
  t.same(await boot(house), { unknown: 0, waiting: 0, held: 0 });
  t.same(house.relay.ids, [message.id], 'once');
  t.equal(house.used(), 2, 'and charged');
  t.same(faultsOf(house), []);
});

t.test('what is not there cannot be let go', async t => {
  const house = await houseOf(t);
  t.match(await outcomeOf(() => retrySends(house, 'nonsense')), { failure: { code: 'not_found' } });
  t.match(await outcomeOf(() => retrySends(house, '0190b1f0-0000-7000-8000-000000000001')), {
    failure: { code: 'not_found' },
  });
});

t.test('a message in Trash does not go out from there', async t => {
  const house = await houseOf(t);
  const [id = '', other = ''] = await reserved(house, 2);
  const input = { accountId: house.account, messageId: id };
  await trashMessage(house, { ...input, kind: 'sent' });
  await relayPending(house);
  t.same(house.relay.ids, [other], 'reserved, then thrown away');
  t.match(queueStatus(house).held, [{ id, in_trash: true }]);
  t.match(await outcomeOf(() => retrySends(house, id)), {
    failure: { code: 'invalid_request', message: /Trash/ },
  });
  t.same(await retrySends(house, null), { retried: [] }, 'nor with all others');
  await restoreMessage(house, { ...input, kind: 'sent' });
  t.same(await retrySends(house, null), { retried: [id] });
  await relayPending(house);
  t.same(house.relay.ids, [other, id]);
  t.same(faultsOf(house), []);
});

t.test('a clock that has gone back keeps nothing from being sent', async t => {
  const house = await houseOf(t);
  const [id = ''] = await reserved(house);
  house.now.ms -= 400 * DAY_MS;
  t.same(await boot(house), { unknown: 0, waiting: 1, held: 0 });
  t.same(house.relay.ids, [id]);
});

t.test('an entry that was left behind starts nothing again', async t => {
  const house = await houseOf(t);
  const { message } = await receiptOf(house.submit());
  await house.side.workAll();
  await house.store.write(writer =>
    addPending(writer, house.now.ms, { kind: 'relay', id: message.id as MessageId }),
  );
  house.now.ms += 2 * DAY_MS;
  t.same(await boot(house), { unknown: 0, waiting: 0, held: 0 });
  t.match(house.sent(message.id), { attempt: 'settled', status: 'accepted' });
  t.same(house.pendingRelays(), [], 'it is gone');
  t.same(await retrySends(house, null), { retried: [] });
  t.same(house.relay.ids, [message.id]);
});

t.test('more attempts than a page are all recovered and all let go', async t => {
  const house = await houseOf(t);
  const ids = await reserved(house, 1);
  house.side.mode = 'drop';
  await Promise.all(Array.from({ length: 600 }, () => house.submit()));
  house.now.ms += DAY_MS;
  t.same(await boot(house), { unknown: 0, waiting: 0, held: 601 });
  t.equal(queueStatus(house).is_partial, true);
  await trashMessage(house, { accountId: house.account, messageId: ids[0]!, kind: 'sent' });
  t.equal((await retrySends(house, null)).retried.length, 600);
  t.same(heldIds(house), ids);
  t.same(faultsOf(house), []);
});
