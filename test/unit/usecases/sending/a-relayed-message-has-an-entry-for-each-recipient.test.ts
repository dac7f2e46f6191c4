import t from 'tap';
import type { SendInput } from '../../../../src/contract/sending.js';
import { walkTable } from '../../../../src/store/engine/tables.js';
import {
  type DeliveryRecord,
  deliveriesOf,
  deliveriesTable,
  saveDelivery,
  sentDeliveriesTable,
} from '../../../../src/store/records/deliveries.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import type { BounceNews } from '../../../../src/usecases/inbound/note-report.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { addSuppression } from '../../../../src/usecases/inboxes/suppressions.js';
import {
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import {
  cancelDeliveries,
  listQueue,
  retryDeliveries,
} from '../../../../src/usecases/sending/delivery-admin.js';
import {
  type DescribedDelivery,
  describeDeliveries,
} from '../../../../src/usecases/sending/describe-deliveries.js';
import { listDeliveries } from '../../../../src/usecases/sending/list-deliveries.js';
import { noteBounce } from '../../../../src/usecases/sending/note-bounce.js';
import { queueStatus } from '../../../../src/usecases/sending/queue-admin.js';
import { retryUnknown } from '../../../../src/usecases/sending/retry-unknown.js';
import { ACCEPTED, REFUSED } from '../../../support/sending/scripted-relay.js';
import { dsn, failed } from '../inbound/with-reports.js';
import { UNKNOWN } from '../with-desk.js';
import { index, parseForReal } from '../with-parser.js';
import { faultsOf, receiptOf, type SendingHouse, withSending } from './with-sending.js';

const HOUR_MS = 3_600_000;
const ANN = 'ann@one.example';
const BOB = 'bob@two.example';
const CARL = 'carl@one.example';

const to = (...addresses: readonly string[]): SendInput['to'] => addresses.map(address => ({ address }));

/** Sends to these recipients, and gives the id once the relay has answered. */
async function send(house: SendingHouse, ...addresses: readonly string[]): Promise<string> {
  const { message } = await receiptOf(house.submit({ to: to(...addresses) }));
  await house.side.workAll();
  return message.id;
}

const listed = (house: SendingHouse, messageId: string) =>
  listDeliveries(house, { accountId: house.account, messageId }).deliveries;

const states = (house: SendingHouse, id: string): string[][] =>
  listed(house, id).map(({ recipient, state }) => [recipient, state]);

const described = (house: SendingHouse, id: string): readonly DescribedDelivery[] =>
  describeDeliveries({ ...house, maxAgeMs: 48 * HOUR_MS }, id).deliveries;

const written = ({ store }: SendingHouse, id: string): DeliveryRecord[] =>
  store.read(reader => deliveriesOf(reader, id as never));

const entries = ({ store }: SendingHouse): number =>
  store.read(reader =>
    [deliveriesTable, sentDeliveriesTable]
      .map(table => [...walkTable(reader, table as typeof deliveriesTable)].length)
      .reduce((sum, length) => sum + length, 0),
  );

function report(
  { store, clock }: SendingHouse,
  id: string,
  recipient: string,
  news: Partial<BounceNews> = {},
): Promise<void> {
  const facts = { kind: 'failed', status: '5.1.1', diagnostic: '550 5.1.1 nobody', ...news } as const;
  return store.write(writer => noteBounce(clock)(writer, { sentId: id as never, recipient, ...facts }));
}

t.test('the outcome of the message is that of every recipient, each once and by domain', async t => {
  const house = await withSending(t);
  const all = [ANN, BOB, CARL, 'ann@ONE.example'];
  const cases = [
    { answer: ACCEPTED, state: 'delivered', reply: null, advice: /^The relay has it/ },
    { answer: REFUSED, state: 'failed', reply: 'E_RECIPIENT_REJECTED', advice: /did not take it/ },
    { answer: UNKNOWN, state: 'unknown', reply: 'acceptance_unknown', advice: /may have arrived/ },
  ];
  for (const { answer, state, reply, advice } of cases) {
    house.relay.answer = answer;
    const id = await send(house, ...all);
    t.strictSame(states(house, id), [
      [ANN, state],
      [CARL, state],
      [BOB, state],
    ]);
    const facts = { attempts: 1, code: null, host: null, tls: null, next_attempt_at: null, reply };
    for (const one of listed(house, id)) t.match(one, facts);
    for (const one of described(house, id)) t.match(one, { ...facts, state, give_up_at: null, advice });
  }
  t.equal(entries(house), 0, 'nothing is written of them');
});

t.test('what has not been handed over, is being so, or never will be, says so', async t => {
  const house = await withSending(t, { responseTimeoutMs: 1 });
  const { side, relay } = house;
  side.mode = 'keep';
  const { message } = await receiptOf(house.submit({ to: to(ANN) }));
  t.match(described(house, message.id), [{ state: 'queued', attempts: 0, advice: /queue status/ }]);
  const asked = relay.stall();
  const working = side.workAll();
  await asked;
  t.match(described(house, message.id), [{ state: 'sending', attempts: 1, advice: /being asked/ }]);
  relay.end(ACCEPTED);
  await working;
  t.match(described(house, message.id), [{ state: 'delivered' }]);
  const late = await receiptOf(house.submit({ to: to(ANN) }));
  house.now.ms += 25 * HOUR_MS;
  await side.workAll();
  t.match(described(house, late.message.id), [
    { state: 'queued', attempts: 0, advice: /is held.*queue retry/ },
  ]);
  await addSuppression(house, { address: BOB, reason: 'by hand' });
  side.mode = 'work';
  const refused = await send(house, ANN, BOB);
  t.match(described(house, refused), [
    { recipient: ANN, state: 'failed', attempts: 0, reply: 'E_RECIPIENT_SUPPRESSED' },
    { recipient: BOB, state: 'failed', attempts: 0, advice: /suppression list/ },
  ]);
});

t.test('a report makes one recipient failed, in its place; the others keep their outcome', async t => {
  const house = await withSending(t);
  for (const answer of [ACCEPTED, UNKNOWN]) {
    house.relay.answer = answer;
    const id = await send(house, ANN, BOB, CARL);
    const before = answer.status === 'accepted' ? 'delivered' : 'unknown';
    await report(house, id, CARL);
    t.strictSame(states(house, id), [
      [ANN, before],
      [CARL, 'failed'],
      [BOB, before],
    ]);
    t.match(listed(house, id)[1], { code: '5.1.1', reply: '550 5.1.1 nobody', attempts: 1 });
    t.match(described(house, id)[1], {
      advice: /^A report .* no such address.*suppression remove carl@one\.example --account/,
    });
    await report(house, id, ANN, { status: '5.7.1', diagnostic: 'not by our rules' });
    t.match(described(house, id)[0], { state: 'failed', code: '5.7.1', advice: /its words say why/ });
    t.equal(written(house, id).length, 2);
  }
  t.strictSame(faultsOf(house), []);
});

t.test(
  'however often and however spelt it is reported, a recipient has one record and one entry',
  async t => {
    const house = await withSending(t);
    const id = await send(house, 'Ann@one.example', 'Ann@ONE.example', 'ann@one.example', BOB);
    const spellings = ['Ann@ONE.example', 'ANN@one.EXAMPLE', 'ann@one.example', 'Ann@one.example'];
    for (const spelling of [...spellings, ...spellings]) await report(house, id, spelling);
    t.strictSame(states(house, id), [
      ['Ann@one.example', 'failed'],
      ['ann@one.example', 'failed'],
      [BOB, 'delivered'],
    ]);
    for (const kind of ['complaint', 'failed', 'complaint'] as const) await report(house, id, BOB, { kind });
    t.equal(written(house, id).length, 2);
    t.equal(listed(house, id).length, 3);
    t.strictSame(faultsOf(house), []);
  },
);

t.test('who complains has the message, unless nobody got it', async t => {
  const house = await withSending(t);
  const complaint = { kind: 'complaint', status: null, diagnostic: null } as const;
  const id = await send(house, ANN, BOB);
  await report(house, id, BOB, complaint);
  t.match(listed(house, id), [
    { state: 'delivered', reply: null },
    { state: 'delivered', reply: /abuse/ },
  ]);
  house.relay.answer = REFUSED;
  const refused = await send(house, ANN);
  await report(house, refused, ANN, complaint);
  await report(house, refused, ANN);
  t.match(listed(house, refused), [{ state: 'failed', reply: 'E_RECIPIENT_REJECTED' }]);
  t.equal(written(house, refused).length, 0);
});

t.test('nothing is written where a report can mean nobody', async t => {
  const house = await withSending(t, { responseTimeoutMs: 1 });
  const id = await send(house, ANN);
  for (const stranger of [BOB, 'an@one.example', 'ann@one.example.', 'ann', '', 'ann@two.example'])
    await report(house, id, stranger);
  house.side.mode = 'drop';
  const { message } = await receiptOf(house.submit({ to: to(ANN) }));
  await report(house, message.id, ANN);
  t.match(listed(house, message.id), [{ state: 'queued' }], 'it has not gone out');
  await deleteMessage(house, { accountId: house.account, messageId: id, kind: 'sent' });
  await report(house, id, ANN);
  t.equal(entries(house), 0);
});

t.test('a report that comes while the relay is asked stands, whatever it answers', async t => {
  const house = await withSending(t, { responseTimeoutMs: 1 });
  for (const answer of [ACCEPTED, UNKNOWN]) {
    const asked = house.relay.stall();
    const { message } = await receiptOf(house.submit({ to: to(ANN, CARL) }));
    await asked;
    await report(house, message.id, ANN);
    t.match(listed(house, message.id), [{ state: 'failed' }, { state: 'sending' }]);
    house.relay.end(answer);
    await house.side.workAll();
    const rest = answer.status === 'accepted' ? 'delivered' : 'unknown';
    t.match(listed(house, message.id), [{ state: 'failed' }, { state: rest }]);
  }
  t.strictSame(faultsOf(house), []);
});

t.test('a report as mail, read by the real parser, counts for a relayed message', async t => {
  const house = await withSending(t);
  const id = await send(house, ANN, BOB);
  const text = dsn(house.sent(id)!.messageId, failed('ANN@one.example'), failed('nobody@one.example'));
  const received = await house.receive(text.replace(/\n/g, '\r\n'), house.inboxId);
  await index(house, received, parseForReal, { noteBounce: noteBounce(house.clock) });
  t.strictSame(states(house, id), [
    [ANN, 'failed'],
    [BOB, 'delivered'],
  ]);
  const again = await receiptOf(house.submit({ to: to(ANN) }));
  t.match(again.message, { status: 'rejected', error_code: 'E_RECIPIENT_SUPPRESSED' });
  t.strictSame(faultsOf(house), []);
});

t.test('nothing of it waits, and nothing of it is cancelled or sent again', async t => {
  const house = await withSending(t);
  house.relay.answer = UNKNOWN;
  for (const isReported of [false, true]) {
    const id = await send(house, ANN, BOB);
    if (isReported) await report(house, id, ANN);
    t.strictSame(listQueue(house, 10).deliveries, []);
    t.match(queueStatus(house).deliver, { waiting: 0, oldest_age_s: null });
    const refusal = (attempt: Promise<unknown>) => attempt.catch(error => error);
    t.match(await refusal(cancelDeliveries(house, id)), { failure: { code: 'not_found' } });
    t.equal(await retryDeliveries(house, id), null);
    t.match(await refusal(retryUnknown({ ...house, signer: null }, id)), {
      failure: { code: 'invalid_request', message: /handed to a relay/ },
    });
    t.equal(entries(house), isReported ? 2 : 0);
  }
  t.strictSame(faultsOf(house), []);
});

const DAY_MS = 24 * HOUR_MS;
const ENDINGS: Readonly<Record<string, (house: SendingHouse, messageId: string) => Promise<unknown>>> = {
  'the sent copy': ({ account, ...house }, messageId) =>
    Promise.resolve(deleteMessage(house, { accountId: account, messageId, kind: 'sent' })),
  'Trash, in which it was reported': async (house, messageId) => {
    const input = { accountId: house.account, messageId, kind: 'sent' } as const;
    await trashMessage({ ...house, retentionDays: 30 }, input);
    await report(house, messageId, BOB);
    t.strictSame(faultsOf(house), []);
    await restoreMessage(house, input);
    t.match(states(house, messageId), [
      [ANN, 'failed'],
      [BOB, 'failed'],
    ]);
    await trashMessage({ ...house, retentionDays: 30 }, input);
    house.now.ms += 31 * DAY_MS;
  },
  'the inbox': house =>
    Promise.resolve(deleteInbox(house, { accountId: house.account, inboxId: house.inboxId })),
};

for (const [what, end] of Object.entries(ENDINGS)) {
  t.test(`a report goes with what it is about: ${what}`, async t => {
    const house = await withSending(t);
    const id = await send(house, ANN, BOB);
    await report(house, id, ANN);
    t.equal(entries(house), 2);
    t.strictSame(faultsOf(house), []);
    await end(house, id);
    await house.sweepAll();
    t.equal(house.sent(id), undefined);
    t.equal(entries(house), 0);
    t.strictSame(faultsOf(house), []);
    await report(house, id, ANN);
    t.equal(entries(house), 0, 'and none comes later');
  });
}

t.test('verify names a report that is left alone, and one that would be due', async t => {
  const house = await withSending(t);
  const id = await send(house, ANN);
  await report(house, id, ANN);
  const [record] = written(house, id);
  const { store, now } = house;
  const due = { ...record!, dueAt: now.ms, nextAt: now.ms };
  await store.write(writer => saveDelivery(writer, record!, due, now.ms));
  t.match(verifyStore(store).faults, [/which has no content/]);
  await store.write(writer => saveDelivery(writer, due, record!, now.ms));
  t.strictSame(faultsOf(house), []);
  const stray = { ...record!, sentId: house.inboxId as never };
  await store.write(writer => writer.put(deliveriesTable, record!.id, stray));
  t.ok(verifyStore(store).faults.some(fault => fault.includes(`sent message ${stray.sentId}`)));
});
