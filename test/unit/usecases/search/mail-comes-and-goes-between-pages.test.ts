import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { changeLabels, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import type { ListOrder } from '../../../../src/usecases/mailbox/list-messages.js';
import { RANKING_LIMITS, Rankings } from '../../../../src/usecases/search/rankings.js';
import { searchMessages } from '../../../../src/usecases/search/search-messages.js';
import { searchThreads } from '../../../../src/usecases/search/search-threads.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { SearchedHouse, withSearch, words } from './with-search.js';

type Searched = Awaited<ReturnType<typeof withSearch>>;

async function page(
  searched: SearchedHouse,
  inbox: Searched['inbox'],
  order: ListOrder,
  cursor: string | null,
) {
  const input = { accountId: searched.house.account, inboxId: inbox, kind: 'received' as const };
  const found = await searchMessages(searched.deps, {
    ...input,
    filter: words('invoice'),
    order,
    limit: 2,
    cursor,
  });
  const ids = found.summaries.map(summary => (JSON.parse(summary.toString()) as { id: MessageId }).id);
  return { ids, cursor: found.nextCursor };
}

for (const order of ['newest', 'oldest', 'relevance'] as const) {
  t.test(`by ${order}, what stays is neither skipped nor repeated`, async t => {
    const searched = await withSearch(t);
    const { house, inbox } = searched;
    const stay: MessageId[] = [];
    const leave: MessageId[] = [];
    for (let n = 0; n < 6; n++) {
      const text = `the invoice${' invoice'.repeat(n)} of March`;
      (n % 2 === 0 ? stay : leave).push(await searched.receive(inbox, { text }));
      await searched.receive(inbox, { text: 'something else' });
      if (n === 3) await searched.takeIn();
    }
    await searched.takeIn();
    const seen: MessageId[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const found = await page(searched, inbox, order, cursor);
      seen.push(...found.ids);
      cursor = found.cursor;
      const input = { accountId: house.account, messageId: leave[pages++]!, kind: 'received' as const };
      if (pages <= leave.length) await trashMessage(house, input);
      await searched.receive(inbox, { text: 'a new invoice' });
      if (pages === 2) await searched.takeIn();
    } while (cursor !== null && pages < 20);
    t.strictSame(
      seen.filter(id => stay.includes(id)),
      order === 'oldest' ? stay : [...stay].reverse(),
    );
    t.equal(new Set(seen).size, seen.length);
    if (order === 'relevance') {
      t.ok(
        seen.every(id => stay.includes(id) || leave.includes(id)),
        'what is new does not come into an order that is kept',
      );
    }
  });
}

t.test(
  'a label that goes takes a message out of an order that is kept, and restoring brings one back',
  async t => {
    const searched = await withSearch(t);
    const { house, inbox } = searched;
    const ids: MessageId[] = [];
    for (let n = 0; n < 4; n++) ids.push(await searched.receive(inbox, { text: 'invoice' }));
    await searched.takeIn();
    const first = await page(searched, inbox, 'relevance', null);
    t.strictSame(first.ids, [ids[3], ids[2]]);
    const input = { accountId: house.account, messageId: ids[1]!, kind: 'received' as const };
    await trashMessage(house, input);
    t.strictSame((await page(searched, inbox, 'relevance', first.cursor)).ids, [ids[0]]);
    await changeLabels(house, { ...input, messageId: ids[0]!, add_labels: ['x'], remove_labels: [] });
    t.strictSame(
      (await page(searched, inbox, 'relevance', first.cursor)).ids,
      [ids[0]],
      'the same page again',
    );
  },
);

t.test('an order of relevance is kept for ten minutes, of messages and of conversations', async t => {
  const now = { ms: 0 };
  const { house, index, inbox } = await withSearch(t);
  const searched = new SearchedHouse(house, index, new Rankings(RANKING_LIMITS, () => now.ms));
  for (let n = 0; n < 5; n++) await searched.receive(inbox, { text: 'invoice', conversation: `${n}@x` });
  await searched.takeIn();
  const threads = async (cursor: string | null) => {
    const input = { accountId: house.account, inboxId: inbox, filter: words('invoice'), limit: 2, cursor };
    return await searchThreads(searched.deps, { ...input, order: 'relevance' });
  };
  const [messages, conversations] = [await page(searched, inbox, 'relevance', null), await threads(null)];
  now.ms += 599_000;
  t.equal((await page(searched, inbox, 'relevance', messages.cursor)).ids.length, 2);
  t.equal((await threads(conversations.next_cursor)).threads.length, 2);
  now.ms += 600_000;
  const isOver = {
    ok: false,
    failure: { code: 'invalid_cursor', message: /ten minutes.*Search again without a cursor/ },
  };
  t.match(await outcomeOf(() => page(searched, inbox, 'relevance', messages.cursor)), isOver);
  t.match(await outcomeOf(() => threads(conversations.next_cursor)), isOver);
  t.match(
    await outcomeOf(() => page(searched, inbox, 'newest', messages.cursor)),
    { ok: false },
    'nor is it one of another order',
  );
});
