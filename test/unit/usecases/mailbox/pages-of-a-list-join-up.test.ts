import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { deleteMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { countMessages } from '../../../../src/usecases/mailbox/count-messages.js';
import { listMessages, type MessagePage } from '../../../../src/usecases/mailbox/list-messages.js';
import { ALL_MAIL, withHouse } from '../with-house.js';

t.test('newest first, each message once, whatever the page size', async t => {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const other = await house.addInbox('other');
  await Promise.all(
    Array.from({ length: 45 }, (_, n) => house.accept(`m${n}`, inboxId, ...(n % 3 === 0 ? [other] : []))),
  );
  const mine = house.offered.filter(id => house.message(id)?.inboxId === inboxId);
  for (const id of [mine[0]!, mine[10]!, mine[44]!])
    await deleteMessage(house, { accountId: house.account, messageId: id, kind: 'received' });
  const expected = mine.filter(id => house.message(id) !== undefined).reverse();
  const list = (limit: number, cursor: string | null, inbox = inboxId) =>
    listMessages(house, { ...ALL_MAIL, accountId: house.account, inboxId: inbox, limit, cursor });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), limit => {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page: MessagePage = list(limit, cursor);
          if (page.summaries.length > limit) return false;
          seen.push(...page.summaries.map(summary => JSON.parse(summary.toString()).id));
          cursor = page.nextCursor;
        } while (cursor !== null);
        return JSON.stringify(seen) === JSON.stringify(expected);
      }),
    ),
  );
  t.equal(await countMessages(house, { ...ALL_MAIL, accountId: house.account, inboxId }), 42);
  const { nextCursor } = list(5, null);
  t.match(
    resultOf(() => list(5, nextCursor, other)),
    { failure: { code: 'invalid_cursor' } },
    'not in another inbox',
  );
  t.match(
    resultOf(() => list(5, 'nonsense')),
    { failure: { code: 'invalid_cursor' } },
  );
});
