import t from 'tap';
import type { SentMetadata } from '../../../../src/contract/sent.js';
import type { MessageId } from '../../../../src/domain/ids.js';
import { type SendResult, SendsInFlight } from '../../../../src/usecases/sending/in-flight.js';
import { REFUSED } from '../../../support/sending/scripted-relay.js';
import { faultsOf, receiptOf, withSending } from './with-sending.js';

t.test(
  'after the response timeout the answer is unknown, and the outcome is saved when it comes',
  async t => {
    const house = await withSending(t, { responseTimeoutMs: 20 });
    const handedOver = house.relay.stall();
    const receipt = await receiptOf(house.submit({ idempotency_key: 'k' }));
    t.match(receipt, { outcome_persisted: true, message: { status: 'unknown', error_code: null } });
    await handedOver;
    t.match(await receiptOf(house.submit({ idempotency_key: 'k' })), {
      replayed: true,
      message: { id: receipt.message.id, status: 'unknown' },
    });
    t.equal(house.used(), 1);
    house.relay.end(REFUSED);
    await house.side.workAll();
    t.match(await receiptOf(house.submit({ idempotency_key: 'k' })), {
      replayed: true,
      message: { id: receipt.message.id, status: 'rejected', error_code: 'E_RECIPIENT_REJECTED' },
    });
    t.equal(house.used(), 0, 'the charge went back with the outcome');
    t.equal(house.relay.ids.length, 1);
    t.same(faultsOf(house), []);
  },
);

t.test('an offer that was dropped: bytes are let go with the answer, and it goes out later', async t => {
  const house = await withSending(t, { responseTimeoutMs: 20 });
  const { inFlight } = house.side.send;
  house.side.mode = 'drop';
  const receipts = [];
  for (let n = 0; n < 5; n++) {
    const receipt = receiptOf(house.submit());
    receipts.push(await receipt);
  }
  t.same(
    receipts.map(({ message }) => message.status),
    receipts.map(() => 'unknown'),
  );
  t.equal(inFlight.bytes, 0, 'nothing is kept of what nobody waits for');
  house.side.kept.push(...house.pendingRelays());
  await house.side.workAll();
  t.same(
    house.relay.ids,
    receipts.map(({ message }) => message.id),
  );
  t.equal(
    house.relay.attempts.every(({ content }) => content.length > 0),
    true,
  );
});

t.test('one whose waiting ends with the outcome saved is told the outcome', async t => {
  const house = await withSending(t);
  const { queue, inFlight } = house.side.send;
  const { offer } = queue;
  const settle = inFlight.settle.bind(inFlight);
  // It is not woken by the relaying, as if that had been over before it began to wait.
  inFlight.settle = () => {};
  queue.offer = work => {
    offer(work);
    void house.side.workAll().then(() => settle(work[0]?.id as MessageId, null));
  };
  t.match(await receiptOf(house.submit()), { message: { status: 'accepted' }, outcome_persisted: true });
});

const RESULT: SendResult = { message: { id: 'm' } as SentMetadata, isPersisted: true };
const id = (n: number) => `m${n}` as MessageId;

t.test('bytes beyond 64 MiB are not kept, whoever waits is woken all the same', async t => {
  const inFlight = new SendsInFlight();
  const big = new Uint8Array(30 * 2 ** 20);
  const waits = [1, 2, 3].map(n => inFlight.hold(id(n), big, 60_000));
  t.equal(inFlight.bytes, 60 * 2 ** 20);
  t.equal(inFlight.take(id(3)), undefined);
  t.equal(inFlight.take(id(1)), big);
  t.equal(inFlight.take(id(1)), undefined, 'once');
  for (const n of [1, 2, 3]) inFlight.settle(id(n), RESULT);
  t.same(await Promise.all(waits), [RESULT, RESULT, RESULT]);
  t.equal(inFlight.bytes, 0);
  inFlight.settle(id(1), RESULT);
});

t.test('when the process ends nobody waits on, nor begins to', async t => {
  const inFlight = new SendsInFlight();
  const before = inFlight.hold(id(1), Buffer.from('x'), 60_000);
  inFlight.endWithin(1);
  t.equal(await before, null);
  t.equal(await inFlight.hold(id(2), Buffer.from('x'), 60_000), null);
  t.equal(inFlight.bytes, 0);
});
