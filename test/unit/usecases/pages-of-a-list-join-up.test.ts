import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { CursorCodec } from '../../../src/domain/cursor.js';
import { deleteMessage } from '../../../src/usecases/delete-message.js';
import { countMessages, listMessages, type MessagePage } from '../../../src/usecases/list-messages.js';
import { must, withHouse } from './with-house.js';

t.test('newest first, each message once, whatever the page size', async t => {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const other = await house.addInbox('other');
  await Promise.all(
    Array.from({ length: 45 }, (_, n) => house.accept(`m${n}`, inboxId, ...(n % 3 === 0 ? [other] : []))),
  );
  const mine = house.offered.filter(id => house.message(id)?.inboxId === inboxId);
  for (const id of [mine[0]!, mine[10]!, mine[44]!])
    must(await deleteMessage(house, { accountId: house.account, messageId: id }));
  const expected = mine.filter(id => house.message(id) !== undefined).reverse();
  const deps = { store: house.store, cursors: new CursorCodec(randomBytes(32).toString('base64')) };
  const list = (limit: number, cursor: string | null, inbox = inboxId) =>
    listMessages(deps, { accountId: house.account, inboxId: inbox, limit, cursor });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), limit => {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page: MessagePage = must(list(limit, cursor));
          if (page.summaries.length > limit) return false;
          seen.push(...page.summaries.map(summary => JSON.parse(summary.toString()).id));
          cursor = page.nextCursor;
        } while (cursor !== null);
        return JSON.stringify(seen) === JSON.stringify(expected);
      }),
    ),
  );
  t.equal(must(countMessages(house, { accountId: house.account, inboxId })), 42);
  const { nextCursor } = must(list(5, null));
  t.match(list(5, nextCursor, other), { failure: { code: 'invalid_cursor' } }, 'not in another inbox');
  t.match(list(5, 'nonsense'), { failure: { code: 'invalid_cursor' } });
});
