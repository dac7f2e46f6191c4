import type { Test } from 'tap';
import t from 'tap';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { setAllowance, setPermissions } from '../../../../src/usecases/accounts/accounts.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { setPolicy } from '../../../../src/usecases/inboxes/policies.js';
import { addSuppression, learnOfRecipient } from '../../../../src/usecases/inboxes/suppressions.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { ACCEPTED, REFUSED } from '../../../support/sending/scripted-relay.js';
import { countChunks, pattern } from '../../store/with-blobs.js';
import { faultsOf, receiptOf, type SendingHouse, withSending } from './with-sending.js';

/** Long enough that body and file are uploads of several chunks. */
const FIELDS = {
  text: 'long '.repeat(CHUNK_BYTES),
  attachments: [{ filename: 'a.bin', type: 'a/b', content: pattern(3 * CHUNK_BYTES).toString('base64') }],
  idempotency_key: 'once',
};

type Change = (house: SendingHouse, id: string) => Promise<unknown>;

const retireInbox: Change = async house =>
  await deleteInbox(house, { accountId: house.account, inboxId: house.inboxId });

const CHANGES = {
  deletion: async (house, messageId) =>
    await deleteMessage(house, { accountId: house.account, messageId, kind: 'sent' }),
  trashing: async (house, messageId) =>
    await trashMessage(house, { accountId: house.account, messageId, kind: 'sent' }),
  inboxDeletion: retireInbox,
  inboxErasure: async (house, id) => {
    await retireInbox(house, id);
    await house.sweepAll();
  },
  noSend: async house =>
    await setPermissions(house, { account: house.account, permissions: { send: false } }),
  suppression: async house => await addSuppression(house, { address: 'Ann@Remote.example' }),
  learntSuppression: house =>
    house.store.write(writer =>
      learnOfRecipient(writer, {
        accountId: house.account,
        recipient: 'Ann@Remote.example',
        source: 'delivery',
        status: '5.1.1',
        diagnostic: null,
        at: house.now.ms,
      }),
    ),
  rules: async house =>
    await setPolicy(house, {
      inbox: house.inboxId,
      kind: 'sending',
      change: { enabled: true, domains: [] },
    }),
  noAllowance: async house =>
    await setAllowance({ ...house, limits: house.inboxes.limits }, { account: house.account, sends: 0 }),
  labels: async (house, messageId) =>
    await changeLabels(house, {
      accountId: house.account,
      messageId,
      add_labels: ['later'],
      remove_labels: [],
      kind: 'sent',
    }),
} satisfies Record<string, Change>;

/** The one message that there is; its request waits still. */
function onlyId(house: SendingHouse): string {
  const [id] = house.pendingRelays();
  if (id === undefined) throw new Error('nothing is reserved');
  return id;
}

/** A change while the message is reserved, and what its request is told. */
async function changedBeforeStart(t: Test, change: Change) {
  const house = await withSending(t);
  const offered = new Promise<void>(resolve => {
    house.side.send.queue.offer = work => {
      house.side.kept.push(...work.map(({ id }) => id));
      resolve();
    };
  });
  const receipt = receiptOf(house.submit(FIELDS));
  await offered;
  const id = onlyId(house);
  await change(house, id);
  await house.side.workAll();
  return { house, id, receipt: await receipt };
}

/** A change while the message is with the relay, which answers only then. */
async function changedBehindStart(t: Test, change: Change, outcome = ACCEPTED) {
  const house = await withSending(t);
  const handedOver = house.relay.stall();
  const receipt = receiptOf(house.submit(FIELDS));
  await handedOver;
  const id = onlyId(house);
  await change(house, id);
  house.relay.end(outcome);
  const told = await receipt;
  await house.side.workAll();
  return { house, id, receipt: told };
}

async function isClean(t: Test, house: SendingHouse): Promise<void> {
  t.same(house.side.failures, []);
  t.equal(house.side.send.inFlight.bytes, 0, 'no bytes are kept in memory');
  t.same(house.pendingRelays(), []);
  await house.sweepAll();
  t.same(faultsOf(house), []);
}

for (const name of ['deletion', 'inboxDeletion', 'inboxErasure'] as const) {
  t.test(`${name} before the start: nothing goes out, nothing is left, the charge stays`, async t => {
    const { house, id, receipt } = await changedBeforeStart(t, CHANGES[name]);
    t.match(receipt, { outcome_persisted: true, message: { id, status: 'unknown', error_code: null } });
    t.same(house.relay.ids, []);
    t.equal(house.used(), 1, 'a deletion refunds nothing');
    await house.sweepAll();
    t.equal(house.sent(id), undefined);
    t.equal(countChunks(house.store), 0);
    await isClean(t, house);
  });
}

t.test('trashing before the start: it is held', async t => {
  const { house, id, receipt } = await changedBeforeStart(t, CHANGES.trashing);
  t.match(receipt.message, { id, status: 'unknown' });
  t.match(house.sent(id), { attempt: 'held' });
  t.same(house.relay.ids, []);
  await isClean(t, house);
});

for (const [name, errorCode] of [
  ['noSend', 'E_SENDER_REJECTED'],
  ['suppression', 'E_RECIPIENT_SUPPRESSED'],
  ['learntSuppression', 'E_RECIPIENT_SUPPRESSED'],
] as const) {
  t.test(`${name} before the start: rejected, not handed over, not charged`, async t => {
    const { house, id, receipt } = await changedBeforeStart(t, CHANGES[name]);
    t.match(receipt, { outcome_persisted: true, message: { id, status: 'rejected', error_code: errorCode } });
    t.same(house.relay.ids, []);
    t.match(house.sent(id), { attempt: 'settled', status: 'rejected', errorCode });
    t.equal(house.used(), 0);
    await isClean(t, house);
  });
}

for (const name of ['rules', 'noAllowance', 'labels'] as const) {
  t.test(`${name} before the start: what was reserved goes out`, async t => {
    const { house, id, receipt } = await changedBeforeStart(t, CHANGES[name]);
    t.match(receipt.message, { id, status: 'accepted', labels: name === 'labels' ? ['later'] : [] });
    t.same(house.relay.ids, [id]);
    await isClean(t, house);
  });
}

for (const name of ['deletion', 'inboxErasure'] as const) {
  t.test(`${name} behind the start: the outcome is told, and that it is not kept`, async t => {
    const { house, id, receipt } = await changedBehindStart(t, CHANGES[name]);
    t.match(receipt, { outcome_persisted: false, message: { id, status: 'accepted' } });
    t.equal(house.sent(id), undefined);
    t.equal(house.used(), 1, 'it went out');
    if (name === 'deletion') {
      t.match(await house.submit(FIELDS), { failure: { code: 'idempotency_result_unavailable' } });
      t.same(house.relay.ids, [id]);
    }
    await isClean(t, house);
    t.equal(countChunks(house.store), 0);
  });
}

t.test('deletion behind the start of what is rejected: the charge goes back all the same', async t => {
  const { house, id, receipt } = await changedBehindStart(t, CHANGES.deletion, REFUSED);
  t.match(receipt, { outcome_persisted: false, message: { id, status: 'rejected' } });
  t.equal(house.used(), 0);
  await isClean(t, house);
});

t.test('trashing behind the start: the outcome is saved where it is', async t => {
  const { house, id, receipt } = await changedBehindStart(t, CHANGES.trashing, REFUSED);
  t.match(receipt, { outcome_persisted: true, message: { id, status: 'rejected' } });
  t.equal(house.used(), 0);
  await restoreMessage(house, { accountId: house.account, messageId: id, kind: 'sent' });
  t.match(house.sent(id), { status: 'rejected', trash: null });
  await isClean(t, house);
});

for (const name of ['inboxDeletion', 'noSend', 'suppression', 'rules', 'noAllowance', 'labels'] as const) {
  t.test(`${name} behind the start: the outcome stands`, async t => {
    const { house, id, receipt } = await changedBehindStart(t, CHANGES[name]);
    t.match(receipt, {
      outcome_persisted: true,
      message: { id, status: 'accepted', labels: name === 'labels' ? ['later'] : [] },
    });
    t.same(house.relay.ids, [id]);
    t.equal(house.used(), 1);
    await isClean(t, house);
  });
}
