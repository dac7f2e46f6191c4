import t from 'tap';
import { NO_FILTER } from '../../../../src/domain/message-filter.js';
import { trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { listMessages } from '../../../../src/usecases/mailbox/list-messages.js';
import { listTrash } from '../../../../src/usecases/mailbox/list-trash.js';
import { fitting, MAX_PAGE_BYTES } from '../../../../src/usecases/shared/pages.js';
import { listThreads } from '../../../../src/usecases/threads/list-threads.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import { letter } from '../threads/with-threads.js';
import { ALL_MAIL, withHouse } from '../with-house.js';

t.test('the first items that fit, and never none', async t => {
  const sizeOf = (size: number) => size;
  t.same(fitting([3, 4, 5], sizeOf, 12), [3, 4, 5]);
  t.same(fitting([3, 4, 5], sizeOf, 11), [3, 4]);
  t.same(fitting([30, 4, 5], sizeOf, 11), [30]);
  t.same(fitting([], sizeOf, 11), []);
});

/** What a sender can put into one From: a group of thousands. */
const MEMBERS = Array.from({ length: 2_500 }, (_, n) => ({
  name: `member number ${n}`,
  address: `m${n}@x.example`,
}));
const FROM = { name: 'Team', group: MEMBERS };
const COUNT = 30;

interface SeenPage {
  readonly ids: readonly string[];
  readonly bytes: number;
  readonly next: string | null;
}

const idOf = (entry: { id: string }) => entry.id;

t.test('lists of long entries come in more pages, and nothing is skipped or repeated', async t => {
  const house = await withHouse(t);
  const { account: accountId } = house;
  const inboxId = await house.addInbox('agent');
  const ids: string[] = [];
  const content = { text: 'x'.repeat(1_000_000) };
  for (let n = 0; n < COUNT; n++) {
    house.now.ms += 1_000;
    const fields = { from: FROM, subject: `s${n}` };
    // One conversation of them all, each with a content of a megabyte.
    ids.unshift(await letter(house, inboxId, `m${n}@x.example`, ['root@x.example'], { content, fields }));
  }
  const pagesOf = async (
    read: (cursor: string | null) => Promise<SeenPage>,
    maxBytes = MAX_PAGE_BYTES,
  ): Promise<readonly string[]> => {
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null = null; pages === 0 || cursor !== null; pages++) {
      const page: SeenPage = await read(cursor);
      t.ok(page.ids.length > 0 && page.bytes < maxBytes * 1.2, `${page.ids.length} in ${page.bytes} bytes`);
      seen.push(...page.ids);
      cursor = page.next;
    }
    t.ok(pages > 1, `${pages} pages`);
    return seen;
  };
  const list = { accountId, inboxId, order: 'newest', limit: 100 } as const;
  const listed = await pagesOf(async cursor => {
    const { summaries, nextCursor } = listMessages(house, { ...list, ...ALL_MAIL, cursor });
    const bytes = summaries.reduce((sum, { length }) => sum + length, 0);
    return { ids: summaries.map(line => idOf(JSON.parse(line.toString()))), bytes, next: nextCursor };
  });
  t.strictSame(listed, ids);
  const [thread] = (await listThreads(house, { ...list, filter: NO_FILTER, cursor: null })).threads;
  const threadId = thread?.id ?? '';
  const members = await pagesOf(async cursor => {
    const { size, bytes } = getThreadDetail(house, { accountId, threadId, limit: 100, cursor });
    const parts: Uint8Array[] = [];
    for await (const part of bytes) parts.push(part);
    const page = JSON.parse(Buffer.concat(parts).toString());
    return { ids: page.messages.map(idOf).reverse(), bytes: size, next: page.next_cursor };
  }, 8 * MAX_PAGE_BYTES);
  t.strictSame(members, ids);
  for (const messageId of ids) await trashMessage(house, { accountId, messageId, kind: 'received' });
  const trashed = await pagesOf(async cursor => {
    const page = listTrash(house, { accountId, inboxId, limit: 100, cursor });
    return { ids: page.messages.map(idOf), bytes: JSON.stringify(page).length, next: page.next_cursor };
  });
  t.strictSame(trashed, ids.toReversed());
});

t.test('a list of conversations ends its page early too', async t => {
  const house = await withHouse(t);
  const { account: accountId } = house;
  const inboxId = await house.addInbox('agent');
  for (let n = 0; n < COUNT; n++) {
    house.now.ms += 1_000;
    await letter(house, inboxId, `m${n}@x.example`, [], { fields: { from: FROM } });
  }
  for (const filter of [NO_FILTER, { ...NO_FILTER, after: 1 }]) {
    const list = { accountId, inboxId, order: 'newest', limit: 100, filter } as const;
    const seen = new Set<string>();
    let pages = 0;
    for (let cursor: string | null = null; pages === 0 || cursor !== null; pages++) {
      const page = await listThreads(house, { ...list, cursor });
      t.ok(JSON.stringify(page).length < MAX_PAGE_BYTES * 1.2);
      for (const { id } of page.threads) seen.add(id);
      cursor = page.next_cursor;
    }
    t.equal(seen.size, COUNT);
    t.ok(pages > 1, `${pages} pages`);
  }
});
