import t, { type Test } from 'tap';
import type { AccountId } from '../../../../src/domain/ids.js';
import { beginRebuild } from '../../../../src/store/records/search.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { searchThreads } from '../../../../src/usecases/search/search-threads.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { withSearch, words } from './with-search.js';

const refused = (failure: object) => ({ ok: false, failure });

type Searched = Awaited<ReturnType<typeof withSearch>>;

/** Everything that looks for words in an inbox. */
function asks(searched: Searched) {
  const { inbox, house, deps } = searched;
  const input = {
    accountId: house.account,
    inboxId: inbox,
    filter: words('invoice'),
    limit: 5,
    cursor: null,
  };
  return {
    newest: () => searched.list(inbox, 'invoice'),
    relevance: () => searched.list(inbox, 'invoice', { order: 'relevance' }),
    count: () => searched.count(inbox, 'invoice'),
    threads: () => searchThreads(deps, { ...input, order: 'newest' }),
    'best threads': () => searchThreads(deps, { ...input, order: 'relevance' }),
  };
}

async function refusesAll(t: Test, searched: Searched, retryAfterS: number): Promise<void> {
  for (const [name, ask] of Object.entries(asks(searched))) {
    t.match(await outcomeOf<unknown>(ask), refused({ code: 'content_unavailable', retryAfterS }), name);
  }
}

t.test('while an index is made anew, nobody of its account is answered, and others are', async t => {
  const searched = await withSearch(t);
  const { house, inbox } = searched;
  const other = await house.addAccount('other@elsewhere.example');
  const theirs = await house.addInbox('theirs', other);
  for (const place of [inbox, theirs]) await searched.receive(place, { text: 'an invoice' });
  await searched.takeIn();
  await house.store.write(writer => beginRebuild(writer, house.account, 'a test', house.now.ms));
  await refusesAll(t, searched, 30);
  await searched.index.takeIn(house.store, other);
  const asOther = Object.assign(Object.create(searched), { house: { ...house, account: other } }) as Searched;
  t.equal(await asOther.count(theirs, 'invoice'), 1);
});

t.test('nor is anybody when that begins in the middle of a question', async t => {
  const searched = await withSearch(t);
  const { house, inbox, index } = searched;
  await searched.receive(inbox, { text: 'an invoice' });
  await searched.takeIn();
  index.before = () =>
    house.store.write(writer => beginRebuild(writer, house.account as AccountId, 'a test', house.now.ms));
  await refusesAll(t, searched, 30);
});

t.test('so it is while more mail has come than is looked through', async t => {
  const searched = await withSearch(t);
  const { inbox } = searched;
  for (let n = 0; n < 500; n++) await searched.send(inbox, { text: 'an invoice' });
  t.equal(await searched.count(inbox, 'invoice', 'sent'), 500, 'as much is looked through');
  await searched.send(inbox, { text: 'an invoice' });
  t.match(
    await outcomeOf(() => searched.count(inbox, 'invoice', 'sent')),
    refused({ code: 'content_unavailable', retryAfterS: 2, message: /Repeat the request in 2 seconds/ }),
  );
  t.equal(await searched.count(inbox, 'invoice'), 0, 'the other kind has a tail of its own');
  await searched.takeIn(1);
  t.equal(await searched.count(inbox, 'invoice', 'sent'), 501);
});

t.test('so it is while much text is to be looked through', async t => {
  const searched = await withSearch(t);
  const { inbox } = searched;
  const text = 'many words '.repeat(20_000);
  for (let n = 0; n < 10; n++) await searched.send(inbox, { text });
  t.match(
    await outcomeOf(() => searched.count(inbox, 'words', 'sent')),
    refused({ code: 'content_unavailable' }),
  );
  await searched.takeIn(5);
  t.equal(await searched.count(inbox, 'words', 'sent'), 10);
});

t.test('and while the index has no answer', async t => {
  const searched = await withSearch(t);
  await searched.receive(searched.inbox, { text: 'an invoice' });
  await searched.takeIn();
  const unavailable = async () => ({ status: 'unavailable', retryAfterS: 7 }) as const;
  Object.assign(searched.deps, { index: { find: unavailable, rank: unavailable } });
  await refusesAll(t, searched, 7);
});

t.test('what happens in the middle of a question neither hides nor repeats a message', async t => {
  const searched = await withSearch(t);
  const { house, inbox, index } = searched;
  const kept = await searched.receive(inbox, { text: 'an invoice' });
  const trashed = await searched.receive(inbox, { text: 'an invoice' });
  const recent = await searched.receive(inbox, { text: 'an invoice' });
  await searched.takeIn(1);
  let isFirst = true;
  index.before = async () => {
    if (!isFirst) return;
    isFirst = false;
    await searched.takeIn();
    await trashMessage(house, { accountId: house.account, messageId: trashed, kind: 'received' });
    await searched.receive(inbox, { text: 'an invoice of now' });
  };
  for (const order of ['newest', 'relevance'] as const) {
    const found = await searched.list(inbox, 'invoice', { order });
    t.notOk(found.includes(trashed));
    t.equal(new Set(found).size, found.length);
    t.ok(found.includes(kept) && found.includes(recent));
  }
});

t.test('of an inbox that is deleted in the middle nothing is told', async t => {
  const searched = await withSearch(t);
  const { house, inbox, index } = searched;
  await searched.receive(inbox, { text: 'an invoice' });
  const { count, ...lists } = asks(searched);
  await searched.takeIn();
  index.before = async () => {
    await deleteInbox(house, { accountId: house.account, inboxId: inbox });
  };
  for (const ask of [...Object.values(lists), count]) {
    t.match(await outcomeOf<unknown>(ask), refused({ code: 'not_found' }));
  }
});
