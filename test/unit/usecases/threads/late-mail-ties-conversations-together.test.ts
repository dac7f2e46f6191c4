import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { listMessages, listVersion } from '../../../../src/usecases/mailbox/list-messages.js';
import { getMessageDetail } from '../../../../src/usecases/mailbox/read-message.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import { ALL_MAIL, withHouse } from '../with-house.js';
import { putSent } from '../with-sent.js';
import { detailOf, idsOf, letter, threadsOf } from './with-threads.js';

t.test('replies find each other before their parent comes', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const first = await letter(house, inbox, 'b@x', ['a@x']);
  const second = await letter(house, inbox, 'c@x', ['a@x']);
  const other = await letter(house, inbox, 'z@x');
  const parent = await letter(house, inbox, 'a@x');
  const [thread, alone] = await threadsOf(house, inbox);
  t.match([thread?.message_count, alone?.message_count], [3, 1]);
  t.strictSame(idsOf(await detailOf(house, thread!.id)), [first, second, parent]);
  t.strictSame(idsOf(await detailOf(house, alone!.id)), [other]);
});

t.test('without ids there is a conversation of one, and subjects tie nothing together', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  for (let n = 0; n < 3; n++) await letter(house, inbox, null, [], { fields: { subject: 'Re: Hello' } });
  t.strictSame(
    (await threadsOf(house, inbox)).map(({ message_count, subject }) => [message_count, subject]),
    [
      [1, 'Re: Hello'],
      [1, 'Re: Hello'],
      [1, 'Re: Hello'],
    ],
  );
});

t.test('ids of another inbox are another conversation', async t => {
  const house = await withHouse(t);
  const [one, two] = [await house.addInbox('one'), await house.addInbox('two')];
  await letter(house, one, 'a@x');
  await letter(house, two, 'b@x', ['a@x']);
  t.equal((await threadsOf(house, one))[0]?.message_count, 1);
  t.equal((await threadsOf(house, two))[0]?.message_count, 1);
});

t.test('two conversations become one under the older id, and the younger one leads there', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const older = await letter(house, inbox, 'a@x');
  const sent = await putSent(house.store, inbox, house.now.ms, { messageId: 'b@x' });
  // More have joined the younger one: it is the older id that is kept all the same.
  const third = await letter(house, inbox, 'c@x', ['b@x']);
  const shown = (await threadsOf(house, inbox)).map(({ id }) => id).sort();
  t.equal(shown.length, 2);
  const [oldId, youngId] = shown as [string, string];
  t.strictSame(idsOf(await detailOf(house, youngId)), [third, sent.id]);
  const pages = { cursor: (await detailOf(house, youngId, { limit: 1 })).next_cursor, limit: 1 };

  const input = { ...ALL_MAIL, accountId: house.account, inboxId: inbox };
  const before = listVersion(house, { ...input, kind: 'sent' });
  house.now.ms += 1;
  const tie = await letter(house, inbox, 'd@x', ['a@x', 'c@x']);
  const [thread, ...rest] = await threadsOf(house, inbox);
  t.strictSame(rest, []);
  t.match(thread, { id: oldId, message_count: 4, received_count: 3, unknown_count: 1 });
  for (const id of [oldId, youngId]) {
    const detail = await detailOf(house, id);
    t.equal(detail.id, oldId);
    t.strictSame(idsOf(detail), [older, third, sent.id, tie], 'of one instant, received mail stands first');
    t.ok(detail.messages.every((message: { thread_id: string }) => message.thread_id === oldId));
  }
  t.strictSame(idsOf(await detailOf(house, youngId, pages)), [third], 'its pages go on');
  const asked = { accountId: house.account, threadId: oldId, limit: 1, cursor: pages.cursor };
  t.match(
    resultOf(() => getThreadDetail(house, asked)),
    { ok: false, failure: { code: 'invalid_cursor' } },
    'only under the id that they began with',
  );

  for (const kind of ['received', 'sent'] as const) {
    const { summaries } = listMessages(house, { ...input, kind, limit: 10, cursor: null });
    for (const line of summaries) t.equal(JSON.parse(line.toString()).thread_id, oldId, kind);
  }
  t.not(listVersion(house, { ...input, kind: 'sent' }), before, 'pages that were kept are old');
  const detail = getMessageDetail(house, { accountId: house.account, messageId: third });
  const parts: Uint8Array[] = [];
  for await (const part of detail.bytes) parts.push(part);
  t.equal(JSON.parse(Buffer.concat(parts).toString()).thread_id, oldId);
});
