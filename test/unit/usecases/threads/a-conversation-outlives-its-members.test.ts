import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import type { MessageId } from '../../../../src/domain/ids.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { setPermissions } from '../../../../src/usecases/accounts/accounts.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { listTrash } from '../../../../src/usecases/mailbox/list-trash.js';
import { deleteThread } from '../../../../src/usecases/threads/change-thread.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { indexAll } from '../../search/with-index.js';
import { DAY_MS, type House, withHouse } from '../with-house.js';
import { gaveUp, index } from '../with-parser.js';
import { putSent } from '../with-sent.js';
import { detailOf, idsOf, letter, matchAll, parseLetter, threadsOf } from './with-threads.js';

const input = (house: House, messageId: string) => ({ accountId: house.account, messageId });

const isMissing = (house: House, threadId: string) =>
  resultOf(() => getThreadDetail(house, { accountId: house.account, threadId, limit: 1, cursor: null }))
    .ok === false;

t.test('deleting the message that tied others together does not part them', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const a = await letter(house, inbox, 'a@x', [], { fields: { subject: 'The first' } });
  const tie = await letter(house, inbox, 't@x', ['a@x', 'b@x'], { fields: { subject: 'The second' } });
  const b = await letter(house, inbox, 'b@x', [], { fields: { subject: 'The third' } });
  await deleteMessage(house, { ...input(house, tie), kind: 'received' });
  await house.sweepAll();
  const [thread] = await threadsOf(house, inbox);
  t.strictSame(idsOf(await detailOf(house, thread!.id)), [a, b]);
  const late = await letter(house, inbox, 'l@x', ['t@x']);
  t.strictSame(idsOf(await detailOf(house, thread!.id)), [a, b, late], 'its id still leads there');
  await deleteMessage(house, { ...input(house, a), kind: 'received' });
  matchAll(t, await threadsOf(house, inbox), [{ id: thread!.id, subject: 'The third', message_count: 2 }]);
});

t.test('a conversation in Trash comes back under its id, member by member', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const received = await letter(house, inbox, 'a@x');
  const sent = await putSent(house.store, inbox, house.now.ms, { references: ['a@x'], status: 'accepted' });
  await changeLabels(house, {
    ...input(house, received),
    add_labels: ['kept'],
    remove_labels: [],
    kind: 'received',
  });
  const id = (await threadsOf(house, inbox))[0]!.id;
  const deletedAt = house.now.ms;
  t.match(await outcomeOf(() => deleteThread(house, { accountId: house.account, threadId: id })), {
    ok: true,
    value: {
      id,
      inbox_id: inbox,
      message_count: 2,
      received_count: 1,
      sent_count: 1,
      status: 'deletion_pending',
    },
  });
  t.ok(isMissing(house, id));
  t.strictSame(await threadsOf(house, inbox), []);
  const trash = listTrash(house, { accountId: house.account, inboxId: inbox, limit: 10, cursor: null });
  for (const entry of trash.messages) t.equal(entry.deleted_at, new Date(deletedAt).toISOString());

  house.now.ms += DAY_MS;
  t.match(await outcomeOf(() => restoreMessage(house, { ...input(house, received), kind: 'received' })), {
    ok: true,
    value: { thread_id: id },
  });
  matchAll(t, await threadsOf(house, inbox), [{ id, message_count: 1, received_count: 1 }]);
  await restoreMessage(house, { ...input(house, sent.id), kind: 'sent' });
  const detail = await detailOf(house, id);
  t.strictSame(idsOf(detail), [received, sent.id]);
  t.strictSame(detail.messages[0].labels, ['kept']);
  await deleteThread(house, { accountId: house.account, threadId: id });
  const late = await letter(house, inbox, 'l@x', ['a@x']);
  t.match(
    await threadsOf(house, inbox),
    [{ id, latest_message: { id: late } }],
    'a late reply finds it in Trash',
  );
});

t.test('it ends with its last member, and a late reply begins another', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const a = await letter(house, inbox, 'a@x');
  const b = await letter(house, inbox, 'b@x', ['a@x']);
  const id = (await threadsOf(house, inbox))[0]!.id;
  await deleteMessage(house, { ...input(house, a), kind: 'received' });
  await deleteThread(house, { accountId: house.account, threadId: id });
  house.now.ms += 8 * DAY_MS;
  await house.sweepAll();
  t.equal(house.message(b), undefined);
  t.same(verifyStore(house.store).faults, []);
  t.equal(verifyStore(house.store).checked.threads, 0);
  await letter(house, inbox, 'c@x', ['a@x', 'b@x']);
  const [other] = await threadsOf(house, inbox);
  t.not(other?.id, id);
  t.ok(isMissing(house, id));
});

t.test('a conversation that mentioned many ids is freed in steps', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const many = (from: number) => Array.from({ length: 30 }, (_, n) => `${from + n}@x`);
  const ids: MessageId[] = [];
  for (let n = 0; n < 10; n++)
    ids.push(await letter(house, inbox, `own${n}@x`, ['root@x', ...many(n * 100)]));
  // Of two conversations: an id that was merged is freed as well.
  ids.push(await letter(house, inbox, 'other@x'), await letter(house, inbox, null, ['other@x', 'own1@x']));
  for (const id of ids) await deleteMessage(house, { ...input(house, id), kind: 'received' });
  t.same(verifyStore(house.store).faults, [], 'half-way');
  const late = await letter(house, inbox, 'late@x', ['root@x', 'other@x']);
  t.same(verifyStore(house.store).faults, [], 'with ids that a new conversation has taken');
  await house.sweepAll();
  await indexAll(house);
  const { checked, faults } = verifyStore(house.store);
  t.same(faults, []);
  t.match(checked, { threads: 1, pending: 0 });
  matchAll(t, await threadsOf(house, inbox), [{ message_count: 1, latest_message: { id: late } }]);
});

t.test('a message that is parsed again leaves the page and not the conversation', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const only = await letter(house, inbox, 'a@x');
  const id = (await threadsOf(house, inbox))[0]!.id;
  await reparseMessage(house, only);
  t.strictSame(await threadsOf(house, inbox), []);
  t.ok(isMissing(house, id));
  await parseLetter(house, only, 'a@x', ['b@x']);
  matchAll(t, await threadsOf(house, inbox), [{ id }]);
  await reparseMessage(house, only);
  await index(house, only, gaveUp('timeout'));
  t.strictSame(await threadsOf(house, inbox), [], 'failed mail is in no conversation');
  const other = await letter(house, inbox, 'c@x', ['b@x']);
  matchAll(t, await threadsOf(house, inbox), [{ id, message_count: 1, latest_message: { id: other } }]);
});

t.test('who may not delete is told so, after who does not own it', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  await letter(house, inbox, 'a@x');
  const threadId = (await threadsOf(house, inbox))[0]!.id;
  const stranger = await house.addAccount('stranger@elsewhere.example');
  await setPermissions(house, { account: house.account, permissions: { delete: false } });
  await setPermissions(house, { account: stranger, permissions: { delete: false } });
  const refused = async (accountId: typeof stranger, id: string) => {
    const result = await outcomeOf(() => deleteThread(house, { accountId, threadId: id }));
    return result.ok ? 'done' : result.failure.code;
  };
  t.equal(await refused(house.account, threadId), 'operation_not_allowed');
  t.equal(await refused(stranger, threadId), 'not_found');
  t.equal(await refused(house.account, 'nonsense'), 'not_found');
  t.equal((await threadsOf(house, inbox)).length, 1);
});
