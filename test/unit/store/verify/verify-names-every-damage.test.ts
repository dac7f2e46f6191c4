import type { Test } from 'tap';
import t from 'tap';
import { NO_EXCERPT } from '../../../../src/domain/excerpts/kept-excerpt.js';
import {
  type BlobId,
  type InboxId,
  idToBytes,
  type MessageId,
  newId,
  type ThreadId,
} from '../../../../src/domain/ids.js';
import { joinKey, text } from '../../../../src/store/engine/keys.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import { putExcerpt } from '../../../../src/store/mailbox/excerpts.js';
import { folderCountersTable, summariesTable } from '../../../../src/store/mailbox/folders.js';
import { removeTrash } from '../../../../src/store/mailbox/index.js';
import {
  attachmentBlobs,
  getMessage,
  messagesTable,
  type ReceivedRecord,
  type SentRecord,
  sentTable,
} from '../../../../src/store/mailbox/messages.js';
import {
  addPosting,
  labelCountsTable,
  removePosting,
  type Term,
} from '../../../../src/store/mailbox/postings.js';
import {
  accountEmailsTable,
  accountKeysTable,
  apiKeyHashesTable,
} from '../../../../src/store/records/accounts.js';
import { blobChunksTable, blobOwnersTable, CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { accountInboxesTable, addressesTable, putPolicy } from '../../../../src/store/records/inboxes.js';
import { addPending, removePending } from '../../../../src/store/records/pending.js';
import {
  accountSuppressionsTable,
  findAccountSuppression,
  suppressionCountsTable,
} from '../../../../src/store/records/suppressions.js';
import { threadTerm } from '../../../../src/store/threads/members.js';
import {
  addLink,
  hashedMessageId,
  linkKey,
  mergedThreadsTable,
  purgeThread,
  removePart,
  threadAliasesTable,
  threadLinksTable,
} from '../../../../src/store/threads/names.js';
import {
  getThread,
  putThread,
  scanActivity,
  type ThreadRecord,
  threadsTable,
} from '../../../../src/store/threads/threads.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { createKey } from '../../../../src/usecases/accounts/api-keys.js';
import { createInbox } from '../../../../src/usecases/inboxes/create-inbox.js';
import { setPolicy } from '../../../../src/usecases/inboxes/policies.js';
import { addSuppression, learnOfRecipient } from '../../../../src/usecases/inboxes/suppressions.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { letter } from '../../usecases/threads/with-threads.js';
import { type House, withHouse } from '../../usecases/with-house.js';
import { attachCopy, attached, index, parsed, prepared } from '../../usecases/with-parser.js';
import { putSent } from '../../usecases/with-sent.js';

/** An address that is suppressed for the account. */
const GONE = 'gone@elsewhere.example';

/** A store in which there is something of everything. */
interface Furnished {
  readonly house: House;
  readonly inboxId: InboxId;
  /** Ready, with labels, in two inboxes. */
  readonly labelled: MessageId;
  /** Ready, with an attachment in its raw bytes and one that is a copy of three chunks. */
  readonly withFile: MessageId;
  readonly pending: MessageId;
  readonly trashed: MessageId;
  readonly sent: SentRecord;
  /** Conversations that were merged: the id that is kept, and the one that leads there. */
  readonly merged: { readonly root: ThreadId; readonly other: ThreadId };
}

async function furnish(t: Test): Promise<Furnished> {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const other = await house.addInbox('other');
  await createInbox(house.inboxes, { accountId: house.account, local_part: 'keyed', idempotency_key: 'k1' });
  await createKey(house, { account: house.account });
  for (const kind of ['sending', 'receiving'] as const) {
    await setPolicy(house, { inbox: inboxId, kind, change: { enabled: true, domains: ['a.example'] } });
  }
  await addSuppression(house, { address: 'never@elsewhere.example' });
  await house.store.write(writer =>
    learnOfRecipient(writer, {
      accountId: house.account,
      recipient: GONE,
      source: 'delivery',
      status: '5.1.1',
      diagnostic: null,
      at: house.now.ms,
    }),
  );
  const labelled = await house.receive('to two', inboxId, other);
  const withFile = await house.receive('with a file', inboxId);
  const gone = await house.receive('to be deleted', inboxId);
  const trashed = await house.receive('to be put away', inboxId);
  const restored = await house.receive('to be put away and brought back', inboxId);
  const pending = await house.receive('never parsed', inboxId);
  for (const id of [labelled, trashed, restored]) await index(house, id, parsed());
  await index(house, withFile, async () => ({
    status: 'parsed',
    prepared: prepared({}, [attached('a1', 'file.bin', Buffer.from('file'), 7)]),
  }));
  await attachCopy(house, withFile, 'copy.bin', Buffer.alloc(2 * CHUNK_BYTES + 5, 7));
  const asOwner = { accountId: house.account };
  for (const messageId of [labelled, trashed, restored, gone]) {
    await changeLabels(house, {
      ...asOwner,
      messageId,
      add_labels: ['a label', 'b'],
      remove_labels: [],
      kind: 'received',
    });
  }
  for (const messageId of [trashed, restored])
    await trashMessage(house, { ...asOwner, messageId, kind: 'received' });
  await restoreMessage(house, { ...asOwner, messageId: restored, kind: 'received' });
  await deleteMessage(house, { ...asOwner, messageId: gone, kind: 'received' });
  const sent = await putSent(house.store, inboxId, house.now.ms, { references: ['1@elsewhere.example'] });
  const root = house.message(await letter(house, other, 'a@x'))!.threadId!;
  const younger = house.message(await letter(house, other, 'b@x'))!.threadId!;
  await letter(house, other, 'c@x', ['a@x', 'b@x']);
  return { house, inboxId, labelled, withFile, pending, trashed, sent, merged: { root, other: younger } };
}

t.test('a store is sound before and after the sweep', async t => {
  const { house } = await furnish(t);
  t.same(verifyStore(house.store).faults, []);
  await house.sweepAll();
  const { faults, checked } = verifyStore(house.store);
  t.same(faults, []);
  t.match(checked, { inboxes: 3, messages: 9, sent: 1, in_trash: 1, threads: 2, unfinished_uploads: 0 });
});

type Damage = (writer: Writer, place: Furnished & { record: (id: MessageId) => ReceivedRecord }) => void;

const received = (inboxId: InboxId) => ({ inboxId, kind: 'received' }) as const;
const A_LABEL: Term = { type: 'label', label: 'a label' };

/** What is done to the store, and how the fault is named. */
const DAMAGES: readonly (readonly [string, Damage, RegExp])[] = [
  [
    'a line of a list is lost',
    (writer, { record, labelled }) => writer.remove(summariesTable, record(labelled)),
    /^missing: line of received message number 1 of inbox/,
  ],
  [
    'a line of a list is left behind',
    (writer, { inboxId }) => writer.put(summariesTable, { ...received(inboxId), seq: 77 }, Buffer.from('{}')),
    /^there without reason: line of received message number 77/,
  ],
  [
    'a line says something else',
    (writer, { record, labelled }) => writer.put(summariesTable, record(labelled), Buffer.from('{"id":"x"}')),
    /^missing: agreement of message .* with its line in lists/,
  ],
  [
    'an excerpt is left of a message that is gone',
    writer => putExcerpt(writer, newId<MessageId>(1), NO_EXCERPT),
    /^there without reason: excerpt of message/,
  ],
  [
    'a message that is not ready has an excerpt',
    (writer, { pending }) => putExcerpt(writer, pending, NO_EXCERPT),
    /^there without reason: excerpt of message/,
  ],
  [
    'new words are said to stand beyond the end of their content',
    (writer, { labelled }) => putExcerpt(writer, labelled, { preview: 'null', newWords: '[[0,100000]]' }),
    /^missing: new words of message .* within its content/,
  ],
  [
    'a record is lost',
    (writer, { pending }) => writer.remove(messagesTable, pending),
    /^there without reason: pending parsing of message/,
  ],
  [
    'a message fell out of a label',
    (writer, { record, labelled }) => removePosting(writer, record(labelled), A_LABEL, record(labelled).seq),
    /^missing: label "a label" of received message number 1/,
  ],
  [
    'a label has a message that does not have it',
    (writer, { record, pending }) => addPosting(writer, record(pending), A_LABEL, record(pending).seq),
    /^there without reason: label "a label" of received message number 6/,
  ],
  [
    'a message fell out of its sender',
    (writer, { record, labelled }) =>
      removePosting(writer, record(labelled), { type: 'from', address: 'sender@elsewhere.example' }, 1),
    /^missing: from [0-9a-f]{32} of received message number 1/,
  ],
  [
    'a recipient has a message too many',
    (writer, { record, pending }) =>
      addPosting(writer, record(pending), { type: 'recipient', address: 'nobody@example.org' }, 6),
    /^there without reason: recipient [0-9a-f]{32} of received message number 6/,
  ],
  [
    'a live message counts as gone',
    (writer, { inboxId }) => addPosting(writer, received(inboxId), { type: 'gone' }, 1),
    /^there without reason: state of received message number 1/,
  ],
  [
    'a deleted message does not count as gone',
    (writer, { inboxId }) => removePosting(writer, received(inboxId), { type: 'gone' }, 3),
    /^missing: state of received message number 3/,
  ],
  [
    'a label is miscounted',
    (writer, { inboxId }) =>
      writer.put(labelCountsTable, joinKey(idToBytes(inboxId), text('a label')), { received: 9, sent: 0 }),
    /^there without reason: count 9 of received messages with label "a label"/,
  ],
  [
    'a label without messages is listed',
    (writer, { inboxId }) =>
      writer.put(labelCountsTable, joinKey(idToBytes(inboxId), text('nobody')), { received: 0, sent: 1 }),
    /^there without reason: count 1 of sent messages with label "nobody"/,
  ],
  [
    'live messages are miscounted',
    (writer, { inboxId }) =>
      writer.put(folderCountersTable, received(inboxId), {
        nextSeq: 7,
        live: 5,
        lastAt: Date.UTC(2027),
        version: 99,
        bytes: 0,
      }),
    /^there without reason: counter of received messages of inbox .*: 5 live/,
  ],
  [
    'numbers would be given twice',
    (writer, { inboxId }) =>
      writer.put(folderCountersTable, received(inboxId), {
        nextSeq: 3,
        live: 4,
        lastAt: Date.UTC(2027),
        version: 99,
        bytes: 0,
      }),
    /^there without reason: last number 2 of received messages .* with later messages/,
  ],
  [
    'a Trash entry is lost',
    (writer, { inboxId }) => removeTrash(writer, inboxId, 1),
    /^missing: Trash entry 1 of inbox/,
  ],
  [
    'a message in Trash would stay for ever',
    (writer, { record, trashed }) =>
      removePending(writer, {
        kind: 'purge-trash',
        dueAt: record(trashed).trash!.restorableUntil,
        id: trashed,
      }),
    /^missing: pending erasure from Trash of received message/,
  ],
  [
    'a message in Trash does not count as gone',
    (writer, { record, trashed }) =>
      removePosting(writer, record(trashed), { type: 'gone' }, record(trashed).seq),
    /^missing: mark that message .* in Trash is in no list/,
  ],
  [
    'a message would never be parsed',
    (writer, { record, pending }) =>
      removePending(writer, { kind: 'parse', dueAt: record(pending).parseDueAt!, id: pending }),
    /^missing: pending parsing of message/,
  ],
  [
    'a finished message would be parsed again',
    (writer, { labelled }) => addPending(writer, 5, { kind: 'parse', id: labelled }),
    /^there without reason: pending parsing of message .*, due 5/,
  ],
  [
    'a content is lost',
    (writer, { record, labelled }) =>
      writer.remove(blobChunksTable, { id: record(labelled).content!.id, index: 0 }),
    /^missing: blob .* of \d+ bytes/,
  ],
  [
    'a chunk is lost',
    (writer, { record, withFile }) =>
      writer.remove(blobChunksTable, { id: attachmentBlobs(record(withFile))[0]!.id, index: 1 }),
    /^missing: blob .* of 131045 bytes/,
  ],
  [
    'a chunk is cut short',
    (writer, { record, withFile }) =>
      writer.put(
        blobChunksTable,
        { id: attachmentBlobs(record(withFile))[0]!.id, index: 2 },
        Buffer.alloc(4),
      ),
    /^there without reason: blob .* of 131044 bytes/,
  ],
  [
    'an attachment is behind the end of its message',
    (writer, { record, withFile }) => {
      const before = record(withFile);
      const [file, ...others] = before.attachments;
      const attachments = [{ ...file!, start: 8 }, ...others];
      writer.put(messagesTable, before.id, { ...before, attachments });
    },
    /^missing: bytes of attachment a1 in the raw bytes of message /,
  ],
  [
    'chunks belong to nothing',
    writer => writer.put(blobChunksTable, { id: newId<BlobId>(1), index: 0 }, Buffer.alloc(10)),
    /^there without reason: blob .* of 10 bytes/,
  ],
  [
    'owners are miscounted',
    (writer, { record, labelled }) => writer.remove(blobOwnersTable, record(labelled).raw.id),
    /^missing: blob .* of 6 bytes/,
  ],
  [
    'an inbox cannot be reached by its address',
    writer => writer.remove(addressesTable, 'agent@example.org'),
    /^missing: address agent@example.org of inbox/,
  ],
  [
    'rules belong to no inbox',
    writer =>
      putPolicy(writer, newId<InboxId>(1), 'receiving', {
        enabled: true,
        addresses: [],
        domains: [],
        revision: 1,
      }),
    /^there without reason: policy of inbox .*, which is not there/,
  ],
  [
    'a learnt suppression would stay for ever',
    (writer, { house }) => {
      const { id, until } = findAccountSuppression(writer, house.account, GONE)!;
      removePending(writer, { kind: 'lapse-suppression', dueAt: until, id });
    },
    /^missing: pending lapse of suppression .* of gone@elsewhere\.example for account/,
  ],
  [
    'a learnt suppression is lost',
    (writer, { house }) =>
      writer.remove(accountSuppressionsTable, { accountId: house.account, address: GONE }),
    /^there without reason: pending lapse of suppression/,
  ],
  [
    'learnt suppressions are miscounted',
    (writer, { house }) => writer.put(suppressionCountsTable, house.account, 2),
    /^there without reason: address that is suppressed for account/,
  ],
  [
    'an account does not find its inbox',
    (writer, { house, inboxId }) =>
      writer.remove(accountInboxesTable, joinKey(idToBytes(house.account), idToBytes(inboxId))),
    /^missing: inbox .* of account/,
  ],
  [
    'an account is not found by its email',
    writer => writer.remove(accountEmailsTable, 'owner@elsewhere.example'),
    /^missing: email owner@elsewhere.example of account/,
  ],
  [
    'a message fell out of its conversation',
    (writer, { record, labelled }) =>
      removePosting(writer, record(labelled), threadTerm(record(labelled).threadId!), 1),
    /^missing: thread .* of received message number 1/,
  ],
  [
    'a conversation shows a message that is not in it',
    (writer, { record, labelled, pending }) =>
      addPosting(writer, record(pending), threadTerm(record(labelled).threadId!), 6),
    /^there without reason: thread .* of received message number 6/,
  ],
  [
    'a conversation is lost',
    (writer, { record, labelled }) => writer.remove(threadsTable, record(labelled).threadId!),
    /^missing: message that belongs to thread/,
  ],
  [
    'members are miscounted',
    (writer, { sent }) => changeThread(writer, sent.threadId!, ({ members }) => ({ members: members + 1 })),
    /^there without reason: message that belongs to thread/,
  ],
  [
    'members are counted as something else',
    (writer, { sent }) =>
      changeThread(writer, sent.threadId!, ({ counts }) => ({
        counts: { ...counts, unknown: 0, accepted: 1 },
      })),
    /^there without reason: accepted member of thread/,
  ],
  [
    'another message counts as the first',
    (writer, { sent }) => changeThread(writer, sent.threadId!, ({ latest }) => ({ earliest: latest })),
    /^there without reason: earliest member of thread/,
  ],
  [
    'a conversation is shown by another id',
    (writer, { merged }) => changeThread(writer, merged.root, () => ({ shown: merged.other })),
    /^there without reason: thread .* shown as/,
  ],
  [
    'a conversation fell out of the list',
    (writer, { inboxId }) => {
      const [first] = scanActivity(writer, inboxId, { isDescending: true, position: null, limit: 1 });
      const thread = getThread(writer, first!.root)!;
      putThread(writer, first!.root, thread, { ...thread, latest: null });
      writer.put(threadsTable, first!.root, thread);
    },
    /^missing: thread .* in the list of inbox/,
  ],
  [
    'the list has a conversation twice',
    (writer, { sent }) => {
      const thread = getThread(writer, sent.threadId!)!;
      putThread(writer, sent.threadId!, null, { ...thread, latest: { ...thread.latest!, at: 5 } });
      writer.put(threadsTable, sent.threadId!, thread);
    },
    /^there without reason: thread .* in the list of inbox .* at 5/,
  ],
  [
    'an id that was merged leads nowhere',
    (writer, { merged }) => writer.remove(threadAliasesTable, merged.other),
    /^missing: message that belongs to thread|^there without reason: merged thread id/,
  ],
  [
    'ids lead in a circle',
    (writer, { merged }) =>
      writer.put(threadAliasesTable, merged.root, { type: 'merged', into: merged.other }),
    /^there without reason: circle of thread ids/,
  ],
  [
    'merged ids are miscounted',
    (writer, { inboxId }) => writer.put(mergedThreadsTable, inboxId, 1),
    /^there without reason: merged thread id of inbox/,
  ],
  [
    'a Message-ID leads to no conversation',
    (writer, { inboxId }) =>
      writer.remove(threadLinksTable, linkKey(inboxId, hashedMessageId('1@elsewhere.example'))),
    /^missing: way from the Message-ID of message/,
  ],
  [
    'a Message-ID of nothing is kept',
    (writer, { inboxId }) => addLink(writer, inboxId, hashedMessageId('x@x'), newId<ThreadId>(1)),
    /^there without reason: Message-ID .* which is not in its inbox/,
  ],
  [
    'a Message-ID would be kept for ever',
    (writer, { sent }) =>
      removePart(writer, sent.threadId!, { type: 'link', hash: hashedMessageId(sent.messageId) }),
    /^missing: part of thread .*: Message-ID/,
  ],
  [
    'a conversation in use would be freed',
    (writer, { sent, inboxId }) => purgeThread(writer, inboxId, sent.threadId!),
    /^there without reason: pending end of thread/,
  ],
  [
    'a line of a sent message is lost',
    (writer, { sent }) => writer.remove(summariesTable, sent),
    /^missing: line of sent message number 1/,
  ],
  [
    'a sent message is lost',
    (writer, { sent }) => writer.remove(sentTable, sent.id),
    /^there without reason: blob .* of \d\d bytes/,
  ],
  [
    'bodies of a sent message are lost',
    (writer, { sent }) => writer.remove(blobChunksTable, { id: sent.content.id, index: 0 }),
    /^missing: blob .* of \d\d bytes/,
  ],
  [
    'a sent message fell out of its recipient',
    (writer, { sent }) => removePosting(writer, sent, { type: 'recipient', address: 'ann@x.example' }, 1),
    /^missing: recipient [0-9a-f]{32} of sent message number 1/,
  ],
  [
    'a key is not found by its id',
    writer => {
      const [hashKey] = writer.scanKeys(apiKeyHashesTable, {
        from: Buffer.alloc(1),
        to: Buffer.alloc(17, 0xff),
        limit: 1,
      });
      const [accountKey] = writer.scanKeys(accountKeysTable, {
        from: Buffer.alloc(1),
        to: Buffer.alloc(33, 0xff),
        limit: 1,
      });
      writer.remove({ ...apiKeyHashesTable, encodeKey: (key: Buffer) => key }, hashKey!);
      writer.remove(accountKeysTable, accountKey!);
    },
    /^missing: credential .* of key/,
  ],
];

function changeThread(
  writer: Writer,
  root: ThreadId,
  change: (thread: ThreadRecord) => Partial<ThreadRecord>,
): void {
  const thread = getThread(writer, root)!;
  writer.put(threadsTable, root, { ...thread, ...change(thread) });
}

for (const [what, damage, name] of DAMAGES) {
  t.test(`verify says so when ${what}`, async t => {
    const place = await furnish(t);
    await place.house.sweepAll();
    await place.house.store.write(writer => {
      const record = (id: MessageId) => getMessage(writer, id)!;
      damage(writer, { ...place, record });
    });
    const { faults } = verifyStore(place.house.store);
    t.ok(
      faults.some(fault => name.test(fault)),
      `names it: ${faults.join('\n')}`,
    );
  });
}
