import type { Test } from 'tap';
import t from 'tap';
import type { SendInput } from '../../../../src/contract/sending.js';
import {
  type BlobId,
  type DraftId,
  type InboxId,
  idToBytes,
  type MessageId,
  newId,
} from '../../../../src/domain/ids.js';
import { joinKey, u48 } from '../../../../src/store/engine/keys.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import { summariesTable } from '../../../../src/store/mailbox/folders.js';
import { getSent, type SentRecord, sentTable } from '../../../../src/store/mailbox/messages.js';
import { blobChunksTable } from '../../../../src/store/records/blobs.js';
import { addCharge, chargeSumsTable, chargesTable } from '../../../../src/store/records/charges.js';
import {
  type DraftRecord,
  draftListKeys,
  draftsTable,
  getDraft,
  inboxDraftsTable,
} from '../../../../src/store/records/drafts.js';
import { inboxesTable } from '../../../../src/store/records/inboxes.js';
import { addPending, idempotencyTable, removePending } from '../../../../src/store/records/pending.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteDraft } from '../../../../src/usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../../../src/usecases/drafts/save-draft.js';
import { sendDraft } from '../../../../src/usecases/drafts/send-draft.js';
import { deleteMessage, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { ACCEPTED, Desk, REJECTED, UNKNOWN } from '../../usecases/with-desk.js';
import { type House, withHouse } from '../../usecases/with-house.js';

/** A store in which there is something of everything that has to do with sending. */
interface Furnished {
  readonly house: House;
  readonly inboxId: InboxId;
  /** With a short text. */
  readonly short: DraftId;
  /** With a text, HTML and a file in chunks. */
  readonly long: DraftId;
  readonly submitted: DraftId;
  readonly accepted: MessageId;
  readonly rejected: MessageId;
  readonly unknown: MessageId;
  /** Reserved, not started. */
  readonly waiting: MessageId;
}

const LONG = 'x'.repeat(70_000);
const FILE = {
  filename: 'a.bin',
  type: 'application/octet-stream',
  content: Buffer.alloc(150_000, 7).toString('base64'),
};

async function furnish(t: Test): Promise<Furnished> {
  const house = await withHouse(t);
  const desk = new Desk(house);
  const inboxId = await house.addInbox('agent');
  const owner = { accountId: house.account, inboxId };
  const draft = async (fields: object): Promise<DraftId> =>
    (await createDraft(desk.deps, { ...owner, ...fields })).id as DraftId;
  const body: SendInput = { to: [{ address: 'ann@x.example' }], subject: 'Notes', text: 'Hello' };
  const send = async (fields: object = {}): Promise<MessageId> =>
    (await sendMessage(desk.deps, { ...owner, ...body, ...fields })).message.id as MessageId;

  const short = await draft({ text: 'short', idempotency_key: 'd' });
  const long = await draft({ text: LONG, html: LONG, attachments: [FILE] });
  await updateDraft(desk.deps, { ...owner, draftId: long, html: `${LONG}!` });
  const gone = await draft({ text: LONG });
  await deleteDraft(house, { ...owner, draftId: gone });
  const submitted = await draft({ ...body, attachments: [FILE] });
  const receipt = await sendDraft(desk.deps, { ...owner, draftId: submitted, idempotency_key: 's' });
  desk.outcome = ACCEPTED;
  const accepted = receipt.message.id as MessageId;
  const deleted = await send({ attachments: [FILE] });
  await deleteMessage(house, { accountId: house.account, messageId: deleted, kind: 'sent' });
  const trashed = await send();
  await trashMessage(house, { accountId: house.account, messageId: trashed, kind: 'sent' });
  desk.outcome = REJECTED;
  const rejected = await send();
  desk.outcome = UNKNOWN;
  const unknown = await send({ text: LONG, labels: ['a label'] });
  const stuck = new Desk(house, { responseTimeoutMs: 1 });
  stuck.held = [];
  const waiting = (await sendMessage(stuck.deps, { ...owner, ...body })).message.id as MessageId;
  return { house, inboxId, short, long, submitted, accepted, rejected, unknown, waiting };
}

t.test('a store with drafts and sends in every state is sound before and after the sweep', async t => {
  const { house } = await furnish(t);
  t.same(verifyStore(house.store).faults, []);
  await house.sweepAll();
  t.same(verifyStore(house.store).faults, []);
  house.now.ms += 61_000;
  await house.sweepAll();
  const { faults, checked } = verifyStore(house.store);
  t.same(faults, []);
  t.match(checked, { sent: 5, drafts: 3, in_trash: 1, unfinished_uploads: 0 });
});

interface Place extends Furnished {
  readonly draft: (id: DraftId) => DraftRecord;
  readonly sent: (id: MessageId) => SentRecord;
}

type Damage = (writer: Writer, place: Place) => void;

const chargeKeyOf = ({ accountId, reservedAt, id }: SentRecord): Buffer =>
  joinKey(idToBytes(accountId), u48(reservedAt), idToBytes(id));

/** What is done to the store, and how the fault is named. */
const DAMAGES: readonly (readonly [string, Damage, RegExp])[] = [
  [
    'a draft is lost',
    (writer, { short }) => writer.remove(draftsTable, short),
    /^there without reason: list entry .* of a draft/,
  ],
  [
    'a draft is in no list',
    (writer, { draft, short }) => writer.remove(inboxDraftsTable, draftListKeys(draft(short))[0]!),
    /^missing: list entry .* of a draft/,
  ],
  [
    'a submitted draft is in the list of those that are not',
    (writer, { draft, submitted }) =>
      writer.put(inboxDraftsTable, draftListKeys({ ...draft(submitted), state: 'draft' })[1]!, true),
    /^there without reason: list entry .* of a draft/,
  ],
  [
    'a text is lost',
    (writer, { draft, short }) => writer.remove(blobChunksTable, { id: draft(short).text!.id, index: 0 }),
    /^missing: blob .* of 5 bytes/,
  ],
  [
    'a text is cut short',
    (writer, { draft, short }) =>
      writer.put(blobChunksTable, { id: draft(short).text!.id, index: 0 }, Buffer.from('shor')),
    /^there without reason: blob .* of 4 bytes/,
  ],
  [
    'a text belongs to no draft',
    writer => writer.put(blobChunksTable, { id: newId<BlobId>(1), index: 0 }, Buffer.from('left behind')),
    /^there without reason: blob .* of 11 bytes/,
  ],
  [
    'a chunk of a long text is lost',
    (writer, { draft, long }) => {
      const { id } = draft(long).text!;
      writer.remove(blobChunksTable, { id, index: 1 });
    },
    /^missing: blob .* of 70000 bytes/,
  ],
  [
    'a text is as long as its draft does not say',
    (writer, { draft, long }) => {
      const { html } = draft(long);
      writer.put(draftsTable, long, { ...draft(long), html: { ...html!, size: 9 } });
    },
    /^missing: blob .* of 9 bytes/,
  ],
  [
    'a chunk of a file is lost',
    (writer, { draft, long }) =>
      writer.remove(blobChunksTable, { id: draft(long).files[0]!.blob.id, index: 0 }),
    /^missing: blob .* of 150000 bytes/,
  ],
  [
    'a submitted draft has no attempt',
    (writer, { draft, submitted }) =>
      writer.put(draftsTable, submitted, { ...draft(submitted), sentMessageId: null }),
    /^missing: agreement of state and sent message of draft/,
  ],
  [
    'a draft that was not submitted has an attempt',
    (writer, { draft, short, accepted }) =>
      writer.put(draftsTable, short, { ...draft(short), sentMessageId: accepted }),
    /^missing: agreement of state and sent message of draft/,
  ],
  [
    "the attempt of a draft is another inbox's",
    (writer, { sent, accepted }) =>
      writer.put(sentTable, accepted, { ...sent(accepted), inboxId: newId<InboxId>(1) }),
    /^missing: sent message of draft .* in its inbox/,
  ],
  [
    'the inbox of a draft is lost',
    (writer, { inboxId }) => writer.remove(inboxesTable, inboxId),
    /^missing: inbox .* of draft/,
  ],
  [
    'the key of a draft would be protected for ever',
    (writer, { house, draft, short }) =>
      removePending(writer, {
        kind: 'expire-key',
        dueAt: writer.get(idempotencyTable, { accountId: house.account, namespace: 'draft', key: 'd' })!
          .expiresAt,
        id: draft(short).id,
      }),
    /^missing: pending expiry of the key that made/,
  ],
  [
    'a charge is lost',
    (writer, { sent, accepted }) => writer.remove(chargesTable, chargeKeyOf(sent(accepted))),
    /^there without reason: sum of the charges of account .*: 4/,
  ],
  [
    'charges are summed up wrong',
    (writer, { house }) =>
      writer.put(chargeSumsTable, house.account, {
        ...writer.get(chargeSumsTable, house.account)!,
        sum: 1,
      }),
    /^missing: sum of the charges of account .*: 1/,
  ],
  [
    'the sum of charges is lost',
    (writer, { house }) => writer.remove(chargeSumsTable, house.account),
    /^there without reason: sum of the charges of account .*: 5/,
  ],
  [
    'a rejected message was charged',
    (writer, { sent, rejected }) => {
      const { accountId, reservedAt, id } = sent(rejected);
      addCharge(writer, { accountId, at: reservedAt, id }, 1);
    },
    /^there without reason: charge for the rejected message/,
  ],
  [
    'a message was charged for more recipients than it has',
    (writer, { sent, accepted }) => writer.put(chargesTable, chargeKeyOf(sent(accepted)), 7),
    /^missing: charge for the message .* of as many as it has recipients/,
  ],
  [
    'charges would never expire',
    (writer, { house }) =>
      removePending(writer, {
        kind: 'expire-charges',
        dueAt: writer.get(chargeSumsTable, house.account)!.sweepDueAt,
        id: house.account,
      }),
    /^missing: pending expiry of charges of account/,
  ],
  [
    'a reserved message would never be started',
    (writer, { sent, waiting }) =>
      removePending(writer, { kind: 'relay', dueAt: sent(waiting).relayDueAt!, id: waiting }),
    /^missing: pending relaying of message/,
  ],
  [
    'a settled message would be started again',
    (writer, { accepted }) => addPending(writer, 5, { kind: 'relay', id: accepted }),
    /^there without reason: pending relaying of message .*, due 5/,
  ],
  [
    'an attempt that is open has an outcome',
    (writer, { sent, waiting }) =>
      writer.put(sentTable, waiting, { ...sent(waiting), status: 'accepted' as const }),
    /^missing: agreement of status accepted and attempt reserved of sent message/,
  ],
  [
    'a sent message is lost',
    (writer, { waiting }) => writer.remove(sentTable, waiting),
    /^there without reason: pending relaying of message/,
  ],
  [
    'the bodies of a sent message are lost',
    (writer, { sent, accepted }) =>
      writer.remove(blobChunksTable, { id: sent(accepted).content.id, index: 0 }),
    /^missing: blob .* of \d\d bytes/,
  ],
  [
    'long bodies of a sent message are lost',
    (writer, { sent, unknown }) => {
      const { content } = sent(unknown);
      writer.remove(blobChunksTable, { id: content.id, index: 1 });
    },
    /^missing: blob .* of 700\d\d bytes/,
  ],
  [
    'a file of a sent message is lost',
    (writer, { sent, accepted }) =>
      writer.remove(blobChunksTable, { id: sent(accepted).files[0]!.blob.id, index: 2 }),
    /^missing: blob .* of 150000 bytes/,
  ],
  [
    'the line of a sent message says something else',
    (writer, { sent, accepted }) => writer.put(summariesTable, sent(accepted), Buffer.from('{}')),
    /^missing: agreement of message .* with its line in lists/,
  ],
];

for (const [what, damage, name] of DAMAGES) {
  t.test(`verify says so when ${what}`, async t => {
    const place = await furnish(t);
    await place.house.sweepAll();
    await place.house.store.write(writer => {
      damage(writer, {
        ...place,
        draft: id => getDraft(writer, id)!,
        sent: id => getSent(writer, id)!,
      });
    });
    const { faults } = verifyStore(place.house.store);
    t.ok(
      faults.some(fault => name.test(fault)),
      `names it: ${faults.join('\n')}`,
    );
  });
}
