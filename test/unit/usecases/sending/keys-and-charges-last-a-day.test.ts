import t from 'tap';
import { toInstant } from '../../../../src/domain/instants.js';
import { getAccount } from '../../../../src/store/records/accounts.js';
import { getQuota } from '../../../../src/usecases/sending/quota.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { REFUSED } from '../../../support/sending/scripted-relay.js';
import { DAY_MS } from '../with-house.js';
import { faultsOf, receiptOf, type SendingHouse, withSending } from './with-sending.js';

const HOUR_MS = 60 * 60 * 1000;

function quotaOf(house: SendingHouse) {
  const account = house.store.read(reader => getAccount(reader, house.account))!;
  return getQuota({ ...house, ...house.side.send.quota }, account);
}

const recipients = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ address: `n${n}@remote.example` }));

t.test('a key protects to the last millisecond of its day, swept or not, and is free then', async t => {
  const house = await withSending(t);
  const begin = house.now.ms;
  const first = await receiptOf(house.submit({ idempotency_key: 'k' }));
  t.match(first, { replayed: false, idempotency_expires_at: toInstant(begin + DAY_MS) });
  house.now.ms = begin + DAY_MS - 1;
  await house.sweepAll();
  const replay = await receiptOf(house.submit({ idempotency_key: 'k' }));
  t.match(replay, {
    replayed: true,
    idempotency_expires_at: toInstant(begin + DAY_MS),
    message: { id: first.message.id },
  });
  t.match(await house.submit({ idempotency_key: 'k', text: 'Other' }), {
    failure: { code: 'idempotency_conflict' },
  });

  house.now.ms = begin + DAY_MS;
  const second = await receiptOf(house.submit({ idempotency_key: 'k', text: 'Other' }));
  t.match(second, { replayed: false, idempotency_expires_at: toInstant(begin + 2 * DAY_MS) });
  t.not(second.message.id, first.message.id);
  t.same(house.relay.ids, [first.message.id, second.message.id]);
  await house.sweepAll();
  t.match(await receiptOf(house.submit({ idempotency_key: 'k', text: 'Other' })), {
    replayed: true,
    message: { id: second.message.id },
  });
  t.match(await house.submit({ idempotency_key: 'k' }), { failure: { code: 'idempotency_conflict' } });
  t.equal(
    readFacts(house.store).pending['expire-key'],
    1,
    'the sweep of the first use left the second alone',
  );

  house.now.ms = begin + 2 * DAY_MS;
  await house.sweepAll();
  t.equal(readFacts(house.store).pending['expire-key'], 0);
  t.equal(readFacts(house.store).sent.length, 2, 'messages outlive their keys');
  t.same(faultsOf(house), []);
});

t.test('a clock that goes back makes a key no shorter', async t => {
  const house = await withSending(t);
  const first = await receiptOf(house.submit({ idempotency_key: 'k' }));
  house.now.ms -= 5 * HOUR_MS;
  t.match(await receiptOf(house.submit({ idempotency_key: 'k' })), { replayed: true });
  const second = await receiptOf(house.submit());
  t.ok(second.message.created_at >= first.message.created_at, 'what is sent later is not listed as earlier');
});

t.test('a charge counts for a day to the millisecond, and the answer says when it is enough', async t => {
  const house = await withSending(t, { sends: 25 });
  const begin = house.now.ms;
  for (const count of [3, 5, 17]) {
    await receiptOf(house.submit({ to: recipients(count) }));
    house.now.ms += HOUR_MS;
  }
  t.match(quotaOf(house), {
    used: 25,
    remaining: 0,
    next_capacity_at: toInstant(begin + DAY_MS),
    next_capacity_amount: 3,
  });
  const refused = await house.submit({ to: recipients(4), idempotency_key: 'k' });
  const enough = begin + HOUR_MS + DAY_MS;
  t.match(refused, {
    failure: {
      code: 'outbound_limit_reached',
      retryAfterS: (enough - house.now.ms) / 1000,
      beside: {
        reason: 'temporary_exhaustion',
        requested_recipients: 4,
        sufficient_capacity_at: toInstant(enough),
        quota: { used: 25, next_capacity_at: toInstant(begin + DAY_MS) },
      },
    },
  });
  house.now.ms = enough - 1;
  t.match(await house.submit({ to: recipients(4), idempotency_key: 'k' }), {
    failure: { retryAfterS: 1, beside: { sufficient_capacity_at: toInstant(enough) } },
  });
  t.match(quotaOf(house), { used: 22, next_capacity_amount: 5 }, 'the first has come back, swept or not');
  await house.sweepAll();
  t.match(quotaOf(house), { used: 22, next_capacity_amount: 5 }, 'swept');
  house.now.ms = enough;
  t.match(await house.submit({ to: recipients(4), idempotency_key: 'k' }), { value: { replayed: false } });
  t.match(quotaOf(house), { used: 21, remaining: 4, next_capacity_amount: 17 });
  t.match(await house.submit({ to: recipients(26) }), {
    failure: { beside: { reason: 'message_exceeds_allowance', sufficient_capacity_at: null } },
  });
  await house.sweepAll();
  t.same(faultsOf(house), []);
});

t.test('what is charged in one millisecond comes back in one', async t => {
  const house = await withSending(t, { sends: 25 });
  await receiptOf(house.submit({ to: recipients(2) }));
  await receiptOf(house.submit({ cc: recipients(1), bcc: [{ address: 'n0@remote.example' }] }));
  t.match(quotaOf(house), { used: 5, next_capacity_amount: 5 }, 'repeats included');
});

t.test('a rejection that comes when its charge has expired takes nothing back twice', async t => {
  const house = await withSending(t, { sends: 10, responseTimeoutMs: 1 });
  for (const isSwept of [false, true]) {
    const handedOver = house.relay.stall();
    const { message } = await receiptOf(house.submit({ to: recipients(4) }));
    await handedOver;
    house.now.ms += DAY_MS - 1;
    const late = house.relay.end;
    house.relay.answer = { status: 'accepted', detail: '' };
    await receiptOf(house.submit({ to: recipients(3) }));
    house.now.ms += 1;
    if (isSwept) await house.sweepAll();
    late(REFUSED);
    await house.side.workAll();
    t.equal(house.sent(message.id)?.status, 'rejected');
    t.match(quotaOf(house), { used: 3 });
    t.same(faultsOf(house), []);
    house.now.ms += DAY_MS;
    await house.sweepAll();
    t.match(quotaOf(house), { used: 0, next_capacity_at: null, next_capacity_amount: 0 });
  }
});

t.test('a clock that goes back keeps charges until it has caught up', async t => {
  const house = await withSending(t, { sends: 5 });
  const begin = house.now.ms;
  await receiptOf(house.submit({ to: recipients(3) }));
  house.now.ms = begin - 2 * HOUR_MS;
  t.match(quotaOf(house), { used: 3 }, 'nothing is spent twice');
  await receiptOf(house.submit({ to: recipients(2) }));
  t.match(await house.submit(), {
    failure: { beside: { sufficient_capacity_at: toInstant(begin - 2 * HOUR_MS + DAY_MS) } },
  });
  house.now.ms = begin - 2 * HOUR_MS + DAY_MS;
  await house.sweepAll();
  t.match(quotaOf(house), { used: 3, next_capacity_at: toInstant(begin + DAY_MS) });
  house.now.ms = begin + DAY_MS;
  t.match(quotaOf(house), { used: 0 });
  await house.sweepAll();
  t.same(faultsOf(house), []);
  t.equal(readFacts(house.store).pending['expire-charges'], 0);
});
