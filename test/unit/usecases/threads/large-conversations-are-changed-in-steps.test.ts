import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { InboxId } from '../../../../src/domain/ids.js';
import { walkTable } from '../../../../src/store/engine/tables.js';
import { messagesTable } from '../../../../src/store/mailbox/messages.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { countMessages } from '../../../../src/usecases/mailbox/count-messages.js';
import { listTrash } from '../../../../src/usecases/mailbox/list-trash.js';
import { changeThreadLabels, deleteThread } from '../../../../src/usecases/threads/change-thread.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { indexAll } from '../../search/with-index.js';
import { ALL_MAIL, type House, withHouse } from '../with-house.js';
import { putSent } from '../with-sent.js';
import { detailOf, letter, threadsOf } from './with-threads.js';

const RECEIVED = 110;
const SENT = 20;

async function withLargeThread(t: Test) {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  await Promise.all(Array.from({ length: RECEIVED }, (_, n) => letter(house, inbox, `${n}@x`, ['root@x'])));
  for (let n = 0; n < SENT; n++) await putSent(house.store, inbox, house.now.ms, { references: ['root@x'] });
  const [thread] = await threadsOf(house, inbox);
  return { house, inbox, input: { accountId: house.account, threadId: thread!.id } };
}

const labelled = async (house: House, inboxId: InboxId, kind: 'received' | 'sent', label: string) => {
  const filter = { ...ALL_MAIL.filter, labels: { all: [label], any: [], none: [] } };
  return await countMessages(house, { accountId: house.account, inboxId, kind, filter });
};

const COUNTS = { message_count: RECEIVED + SENT, received_count: RECEIVED, sent_count: SENT };

t.test('every member that there was is labelled, and none that came meanwhile', async t => {
  const { house, inbox, input } = await withLargeThread(t);
  const change = changeThreadLabels(house, { ...input, add_labels: ['b', 'a', 'b'], remove_labels: ['c'] });
  const late = letter(house, inbox, 'late@x', ['root@x']);
  const [changed, lateId] = await Promise.all([change, late]);
  const names = { add_labels: ['a', 'b'], remove_labels: ['c'] };
  t.strictSame(changed, { id: input.threadId, inbox_id: inbox, ...COUNTS, ...names });
  t.strictSame(
    [await labelled(house, inbox, 'received', 'a'), await labelled(house, inbox, 'sent', 'b')],
    [110, 20],
  );
  t.strictSame(house.message(lateId)?.labels, []);
  t.equal(house.message(lateId)?.threadId, input.threadId);
});

t.test('changes of the same conversation at once all reach every member', async t => {
  const { house, inbox, input } = await withLargeThread(t);
  const labels = ['a', 'b', 'c', 'd'];
  await Promise.all(
    labels.map(
      async label => await changeThreadLabels(house, { ...input, add_labels: [label], remove_labels: [] }),
    ),
  );
  for (const label of labels) t.equal(await labelled(house, inbox, 'received', label), RECEIVED, label);
  t.same(verifyStore(house.store).faults, []);
});

t.test('all of it goes to Trash as of one instant, and what came meanwhile stays', async t => {
  const { house, inbox, input } = await withLargeThread(t);
  const instant = new Date(house.now.ms).toISOString();
  const deletion = deleteThread(house, input);
  house.now.ms += 1_000;
  const late = letter(house, inbox, 'late@x', ['root@x']);
  const [deleted, lateId] = await Promise.all([deletion, late]);
  t.match(deleted, { id: input.threadId, ...COUNTS, status: 'deletion_pending', message: String });
  const detail = await detailOf(house, input.threadId);
  t.strictSame(
    detail.messages.map(({ id }: { id: string }) => id),
    [lateId],
  );
  const trash = listTrash(house, { accountId: house.account, inboxId: inbox, limit: 100, cursor: null });
  t.strictSame(new Set(trash.messages.map(({ deleted_at }) => deleted_at)), new Set([instant]));
  t.same(verifyStore(house.store).faults, []);
});

t.test('two deletions at once move every member once', async t => {
  const { house, input } = await withLargeThread(t);
  const deletion = () => outcomeOf(() => deleteThread(house, input));
  const [one, two] = await Promise.all([deletion(), deletion()]);
  t.ok(one.ok || two.ok);
  const { faults, checked } = verifyStore(house.store);
  t.same(faults, []);
  t.match(checked, { in_trash: RECEIVED + SENT, threads: 1 });
});

t.test('an inbox that is deleted meanwhile takes everything with it', async t => {
  const { house, inbox, input } = await withLargeThread(t);
  const change = outcomeOf(() =>
    changeThreadLabels(house, { ...input, add_labels: ['a'], remove_labels: [] }),
  );
  while ((await labelled(house, inbox, 'received', 'a')) === 0) await nextTurn();
  await deleteInbox(house, { accountId: house.account, inboxId: inbox });
  t.ok((await change).ok);
  await house.sweepAll();
  await indexAll(house);
  const { faults, checked } = verifyStore(house.store);
  t.same(faults, []);
  t.match(checked, { messages: 0, sent: 0, threads: 0, pending: 0 });
  t.strictSame(
    house.store.read(reader => [...walkTable(reader, messagesTable)]),
    [],
  );
});
