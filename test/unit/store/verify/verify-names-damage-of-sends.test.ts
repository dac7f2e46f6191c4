import type { Test } from 'tap';
import t from 'tap';
import { idToBytes, type MessageId, newId } from '../../../../src/domain/ids.js';
import { joinKey, u48 } from '../../../../src/store/engine/keys.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import { getSent, type SentRecord, sentTable } from '../../../../src/store/mailbox/messages.js';
import { addCharge, chargeSumsTable, chargesTable } from '../../../../src/store/records/charges.js';
import { addPending, type PendingKind, removePending } from '../../../../src/store/records/pending.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { recoverSends } from '../../../../src/usecases/sending/attempt.js';
import { REFUSED } from '../../../support/sending/scripted-relay.js';
import { receiptOf, type SendingHouse, withSending } from '../../usecases/sending/with-sending.js';
import { DAY_MS } from '../../usecases/with-house.js';

/** Attempts in every state; those that are charged have two recipients. */
interface Furnished {
  readonly house: SendingHouse;
  readonly accepted: SentRecord;
  readonly rejected: SentRecord;
  readonly reserved: SentRecord;
  readonly held: SentRecord;
}

async function furnish(t: Test): Promise<Furnished> {
  const house = await withSending(t, { responseTimeoutMs: 1 });
  const send = async (key: string) =>
    (await receiptOf(house.submit({ cc: [{ address: 'bob@remote.example' }], idempotency_key: key }))).message
      .id as MessageId;
  house.side.mode = 'drop';
  const held = await send('held');
  house.now.ms += DAY_MS;
  await recoverSends(house);
  await house.sweepAll();
  const reserved = await send('reserved');
  house.side.mode = 'work';
  const accepted = await send('accepted');
  await house.side.workAll();
  house.relay.answer = REFUSED;
  const rejected = await send('rejected');
  await house.side.workAll();
  const record = (id: MessageId) => house.sent(id)!;
  return {
    house,
    held: record(held),
    reserved: record(reserved),
    accepted: record(accepted),
    rejected: record(rejected),
  };
}

function chargeKey({ accountId, reservedAt, id }: SentRecord): Buffer {
  return joinKey(idToBytes(accountId), u48(reservedAt), idToBytes(id));
}

function unlist(writer: Writer, kind: PendingKind, { id, relayDueAt }: SentRecord): void {
  removePending(writer, { kind, dueAt: relayDueAt!, id });
}

function change(writer: Writer, { id }: SentRecord, changes: Partial<SentRecord>): void {
  writer.put(sentTable, id, { ...getSent(writer, id)!, ...changes });
}

type Damage = (writer: Writer, place: Furnished) => void;

/** What is done to the store, and how the fault is named. */
const DAMAGES: readonly (readonly [string, Damage, RegExp])[] = [
  [
    'a charge is lost',
    (writer, { accepted }) => writer.remove(chargesTable, chargeKey(accepted)),
    /^there without reason: sum of the charges of account .*: 2$/,
  ],
  [
    'a charge is not what the message cost',
    (writer, { accepted }) => writer.put(chargesTable, chargeKey(accepted), 1),
    /^missing: charge for the message .* of as many as it has recipients/,
  ],
  [
    'a rejected message is charged',
    (writer, { rejected }) => {
      const { accountId, reservedAt: at, id } = rejected;
      addCharge(writer, { accountId, at, id }, 2);
    },
    /^there without reason: charge for the rejected message/,
  ],
  [
    'charges are summed up wrongly',
    (writer, { house }) => {
      const sum = writer.get(chargeSumsTable, house.account)!;
      writer.put(chargeSumsTable, house.account, { ...sum, sum: 3 });
    },
    /^missing: sum of the charges of account .*: 3$/,
  ],
  [
    'a sum of charges is lost',
    (writer, { house }) => writer.remove(chargeSumsTable, house.account),
    /^there without reason: sum of the charges of account .*: 4$/,
  ],
  [
    'charges would be kept for ever',
    (writer, { house }) => {
      const { sweepDueAt: dueAt } = writer.get(chargeSumsTable, house.account)!;
      removePending(writer, { kind: 'expire-charges', dueAt, id: house.account });
    },
    /^missing: pending expiry of charges of account/,
  ],
  [
    'charges of nobody are to expire',
    writer => addPending(writer, 5, { kind: 'expire-charges', id: newId(1) }),
    /^there without reason: pending expiry of charges of account .*, due 5$/,
  ],
  [
    'a reserved message would never be sent',
    (writer, { reserved }) => unlist(writer, 'relay', reserved),
    /^missing: pending relaying of message/,
  ],
  [
    'a held message would never be seen',
    (writer, { held }) => unlist(writer, 'relay-held', held),
    /^missing: held sending of message/,
  ],
  [
    'a held message would be sent',
    (writer, { held }) => {
      unlist(writer, 'relay-held', held);
      addPending(writer, held.relayDueAt!, { kind: 'relay', id: held.id });
    },
    /^there without reason: pending relaying of message/,
  ],
  [
    'a message that has its outcome is to be sent',
    (writer, { accepted }) => addPending(writer, 5, { kind: 'relay', id: accepted.id }),
    /^there without reason: pending relaying of message .*, due 5$/,
  ],
  [
    'a message that is not there is to be sent',
    writer => addPending(writer, 5, { kind: 'relay', id: newId(1) }),
    /^there without reason: pending relaying of message .*, due 5$/,
  ],
  [
    'an attempt that is reserved says that it was accepted',
    (writer, { reserved }) => change(writer, reserved, { status: 'accepted' }),
    /^missing: agreement of status accepted and attempt reserved of sent message/,
  ],
  [
    'an attempt that is over is due',
    (writer, { accepted }) => change(writer, accepted, { relayDueAt: 5 }),
    /^missing: agreement of status accepted and attempt settled of sent message/,
  ],
  [
    'a key would be kept for ever',
    (writer, { accepted }) =>
      removePending(writer, { kind: 'expire-key', dueAt: accepted.reservedAt + DAY_MS, id: accepted.id }),
    /^missing: pending expiry of the key that made/,
  ],
];

for (const [what, damage, name] of DAMAGES) {
  t.test(`verify says so when ${what}`, async t => {
    const place = await furnish(t);
    const { store } = place.house;
    const before = new Set(verifyStore(store).faults);
    t.notOk(
      [...before].some(fault => name.test(fault)),
      'nothing is wrong with it before',
    );
    await store.write(writer => damage(writer, place));
    const faults = verifyStore(store).faults.filter(fault => !before.has(fault));
    t.ok(
      faults.some(fault => name.test(fault)),
      `names it: ${faults.join('\n')}`,
    );
  });
}
