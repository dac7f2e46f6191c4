import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  changeLabels,
  changeLabelsInBatch,
  deleteMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { listLabels } from '../../../../src/usecases/mailbox/list-labels.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { type House, withHouse } from '../with-house.js';
import { index, parsed } from '../with-parser.js';

const MISSING = '01890000-0000-7000-8000-000000000000' as MessageId;

const label = (house: House, messageId: MessageId, addLabels: string[], removeLabels: string[] = []) =>
  changeLabels(house, {
    accountId: house.account,
    messageId,
    add_labels: addLabels,
    remove_labels: removeLabels,
    kind: 'received',
  });

const batch = (house: House, messageIds: string[], addLabels: string[], removeLabels: string[] = []) =>
  changeLabelsInBatch(house, {
    accountId: house.account,
    message_ids: messageIds,
    add_labels: addLabels,
    remove_labels: removeLabels,
    kind: 'received',
  });

const labelsIn = (house: House, inboxId: string) =>
  listLabels(house, { accountId: house.account, inboxId, prefix: '', limit: 100, cursor: null }).labels;

t.test('a hundred changes of one message, with its parsing among them', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await house.receive('raw', inbox);
  await label(house, id, ['old1', 'old2', 'kept']);
  const names = Array.from({ length: 50 }, (_, n) => `new${n}`);
  await Promise.all([
    ...names.map(name => label(house, id, [name])),
    index(house, id, parsed()),
    label(house, id, [], ['old1']),
    batch(house, [id], ['batched'], ['old2']),
  ]);
  const record = house.message(id)!;
  t.equal(record.status, 'ready');
  t.strictSame([...record.labels].sort(), [...names, 'batched', 'kept'].sort());
  t.equal(labelsIn(house, inbox).length, 52);
  t.strictSame(
    labelsIn(house, inbox).find(({ name }) => name === 'kept'),
    { name: 'kept', received_count: 1, sent_count: 0 },
  );
});

t.test('opposite changes of one label follow the order of writing', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  for (let n = 0; n < 20; n++) {
    await Promise.all([label(house, id, ['flag']), label(house, id, [], ['flag'])]);
    t.strictSame(house.message(id)?.labels, []);
  }
  await Promise.all([label(house, id, [], ['flag']), label(house, id, ['flag'])]);
  t.strictSame(house.message(id)?.labels, ['flag']);
});

t.test('a batch has one result a message, in the order of the request', async t => {
  const house = await withHouse(t);
  const [one, two] = [await house.addInbox('one'), await house.addInbox('two')];
  const ids = [await house.receive('a', one), await house.receive('b', two), await house.receive('c', one)];
  await label(house, ids[1]!, ['was']);
  const [a, b, c] = ids as [MessageId, MessageId, MessageId];
  const result = await batch(house, [c, a, c, b, a], [' x ', 'x'], ['was', 'absent']);
  t.strictSame(result, [
    { id: c, labels: ['x'] },
    { id: a, labels: ['x'] },
    { id: b, labels: ['x'] },
  ]);
  t.strictSame(labelsIn(house, two), [{ name: 'x', received_count: 1, sent_count: 0 }]);
  t.strictSame(await batch(house, [a], ['x']), [{ id: a, labels: ['x'] }], 'once more is harmless');
});

t.test('one bad target fails a batch, and nothing has changed', async t => {
  const house = await withHouse(t);
  const stranger = await house.addAccount('stranger@elsewhere.example');
  const inbox = await house.addInbox('agent');
  const gone = await house.addInbox('gone');
  const theirs = await house.addInbox('theirs', stranger);
  const good = await house.receive('raw', inbox);
  const bad = {
    missing: MISSING,
    'of another account': await house.receive('raw', theirs),
    'in Trash': await house.receive('raw', inbox),
    deleted: await house.receive('raw', inbox),
    'in a deleted inbox': await house.receive('raw', gone),
    'an inbox': inbox as string as MessageId,
  };
  await trashMessage(house, { accountId: house.account, messageId: bad['in Trash'], kind: 'received' });
  await deleteMessage(house, { accountId: house.account, messageId: bad.deleted, kind: 'received' });
  await deleteInbox(house, { accountId: house.account, inboxId: gone });
  const failures = new Set<string>();
  for (const [what, id] of Object.entries(bad)) {
    for (const ids of [
      [good, id],
      [id, good],
      [good, id, good],
    ]) {
      const result = await outcomeOf(() => batch(house, ids, ['x']));
      t.match(result, { ok: false, failure: { code: 'not_found' } }, what);
      failures.add(JSON.stringify(result));
    }
    t.match(
      await outcomeOf(() => label(house, id, ['x'])),
      { ok: false, failure: { code: 'not_found' } },
      what,
    );
  }
  t.equal(failures.size, 1, 'which one it was is not told');
  t.strictSame(house.message(good)?.labels, []);
  t.strictSame(labelsIn(house, inbox), []);
});

t.test('message_ids are 1 to 100 ids in full', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  for (const ids of [
    [],
    Array(101).fill(id),
    ['x'],
    [id, ''],
    [id.toUpperCase()],
    [id.replaceAll('-', '')],
    [` ${id}`],
  ]) {
    t.match(
      await outcomeOf(() => batch(house, ids, ['x'])),
      { failure: { code: 'invalid_message_ids' } },
      `${ids.length} ids`,
    );
  }
  t.match(await outcomeOf(() => batch(house, Array(100).fill(id), ['x'])), {
    ok: true,
    value: [{ id, labels: ['x'] }],
  });
  t.match(await outcomeOf(() => batch(house, [id], [])), { failure: { code: 'invalid_labels' } });
  t.match(
    await outcomeOf(() => batch(house, ['x'], [])),
    { failure: { code: 'invalid_message_ids' } },
    'ids are looked at first',
  );
});
