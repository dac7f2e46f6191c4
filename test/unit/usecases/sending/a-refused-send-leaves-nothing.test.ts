import type { Test } from 'tap';
import t from 'tap';
import type { SendInput } from '../../../../src/contract/sending.js';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { setAllowance, setPermissions } from '../../../../src/usecases/accounts/accounts.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { setPolicy } from '../../../../src/usecases/inboxes/policies.js';
import { deleteMessage, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { pattern } from '../../store/with-blobs.js';
import { DAY_MS } from '../with-house.js';
import { fullAt } from './failing-store.js';
import { faultsOf, receiptOf, type SendingHouse, withSending } from './with-sending.js';

/** Body and files are uploads of several chunks: they are in the store before the reservation is refused. */
const LONG: Partial<SendInput> = {
  text: 'long '.repeat(CHUNK_BYTES / 2),
  attachments: ['a', 'b'].map(filename => ({
    filename,
    type: 'a/b',
    content: pattern(3 * CHUNK_BYTES).toString('base64'),
  })),
};

function facts(house: SendingHouse) {
  const { sent, chunks, uploads, pending } = readFacts(house.store);
  const { relay, 'expire-key': keys, 'purge-blob': blobs, 'purge-inbox': inboxes } = pending;
  return { sent: sent.length, chunks, uploads, relay, keys, blobs, inboxes };
}

const NOTHING = { sent: 0, chunks: 0, uploads: 0, relay: 0, keys: 0, blobs: 0, inboxes: 0 };

async function leavesNothing(t: Test, house: SendingHouse): Promise<void> {
  t.same(house.relay.ids, []);
  t.equal(house.used(), 0);
  await sweepAll(house);
  t.same(facts(house), NOTHING);
  t.same(faultsOf(house), []);
}

/** Behind what was given up: that is handed to the sweep in units of its own. */
async function sweepAll(house: SendingHouse): Promise<void> {
  await house.store.write(() => undefined);
  await house.sweepAll();
}

/** What wins the race against a send whose first look found nothing wrong, and how the send is refused then. */
const RACES: readonly (readonly [string, (house: SendingHouse) => Promise<unknown>, string])[] = [
  [
    'sending is switched off',
    async house => await setPermissions(house, { account: house.account, permissions: { send: false } }),
    'operation_not_allowed',
  ],
  [
    'the inbox is deleted',
    async house => await deleteInbox(house, { accountId: house.account, inboxId: house.inboxId }),
    'not_found',
  ],
  [
    'the rules of the inbox change',
    async house =>
      await setPolicy(house, {
        inbox: house.inboxId,
        kind: 'sending',
        change: { enabled: true, domains: [] },
      }),
    'recipient_not_allowed',
  ],
  [
    'the allowance is lowered',
    async house =>
      await setAllowance({ ...house, limits: house.inboxes.limits }, { account: house.account, sends: 0 }),
    'outbound_limit_reached',
  ],
];

for (const [what, change, code] of RACES) {
  t.test(`${what} while the message is written: refused with ${code}, nothing is left`, async t => {
    const house = await withSending(t);
    // Queued behind the first look of the send and before its reservation.
    const sent = house.submit({ ...LONG, idempotency_key: 'k' });
    const changed = change(house);
    t.match(await sent, { failure: { code } });
    await changed;
    await leavesNothing(t, house);
  });
}

t.test('of two that the allowance covers once, one leaves nothing', async t => {
  const house = await withSending(t, { sends: 1 });
  const both = await Promise.all([house.submit(LONG), house.submit(LONG)]);
  t.same(both.map(({ ok }) => ok).sort(), [false, true]);
  await sweepAll(house);
  t.same(facts(house), { ...NOTHING, sent: 1, chunks: 3 + 2 * 3 });
  t.equal(house.used(), 1);
  t.same(faultsOf(house), []);
});

t.test('of ten with one key, nine leave nothing', async t => {
  const house = await withSending(t);
  const ten = await Promise.all(
    Array.from({ length: 10 }, () => receiptOf(house.submit({ ...LONG, idempotency_key: 'k' }))),
  );
  t.equal(new Set(ten.map(({ message }) => message.id)).size, 1);
  t.equal(ten.filter(({ replayed }) => replayed === true).length, 9);
  await sweepAll(house);
  t.same(facts(house), { ...NOTHING, sent: 1, chunks: 3 + 2 * 3, keys: 1 });
  t.equal(house.relay.ids.length, 1);
  t.same(faultsOf(house), []);
});

t.test('a full store refuses with 503 at whatever unit, and the key is unused', async t => {
  let reached = 0;
  for (let at = 1; ; at++) {
    const house = await withSending(t);
    const full = fullAt(house.store, at);
    house.restart(full.store);
    const sent = await house.submit({ ...LONG, idempotency_key: 'k' });
    // From here on it is the start of the attempt that meets the full store.
    if (sent.ok) break;
    t.match(sent, { failure: { code: 'insufficient_room', message: /nothing was changed/ } });
    await leavesNothing(t, house);
    t.match(await house.submit({ ...LONG, idempotency_key: 'k' }), { value: { replayed: false } });
    reached = at;
  }
  t.ok(reached === 9, `${reached} units`);
});

t.test('a deleted sent copy is freed to its last chunk, also from Trash and by its time there', async t => {
  for (const remove of [
    async (house: SendingHouse, messageId: string) =>
      await deleteMessage(house, { accountId: house.account, messageId, kind: 'sent' }),
    async (house: SendingHouse, messageId: string) => {
      await trashMessage(house, { accountId: house.account, messageId, kind: 'sent' });
      await deleteMessage(house, { accountId: house.account, messageId, kind: 'sent' });
    },
    async (house: SendingHouse, messageId: string) => {
      await trashMessage(house, { accountId: house.account, messageId, kind: 'sent' });
      await sweepAll(house);
      t.equal(facts(house).chunks, 9, 'not before its time');
      house.now.ms += 7 * DAY_MS;
    },
    async (house: SendingHouse) =>
      await deleteInbox(house, { accountId: house.account, inboxId: house.inboxId }),
  ]) {
    const house = await withSending(t);
    const { message } = await receiptOf(house.submit(LONG));
    await house.side.workAll();
    t.equal(facts(house).chunks, 9);
    await remove(house, message.id);
    await sweepAll(house);
    t.same(facts(house), NOTHING);
    t.same(faultsOf(house), []);
  }
});
