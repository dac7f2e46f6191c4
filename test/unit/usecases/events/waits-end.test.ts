import t from 'tap';
import { NO_FILTER } from '../../../../src/domain/message-filter.js';
import { parseSearch } from '../../../../src/domain/search-words.js';
import { openMigratedStore } from '../../../../src/store/open-store.js';
import {
  createKey,
  rememberingAuthenticator,
  revokeKeyById,
} from '../../../../src/usecases/accounts/api-keys.js';
import { EventFeed } from '../../../../src/usecases/events/event-feed.js';
import { followEvents } from '../../../../src/usecases/events/list-events.js';
import { waitForMessage } from '../../../../src/usecases/events/wait-for-message.js';
import { Waiters } from '../../../../src/usecases/events/waiters.js';
import { NaiveIndex } from '../../../support/search/naive-index.js';
import { storeOptions } from '../../store/with-store.js';
import { letter } from '../threads/with-threads.js';
import { houseOn, inNameOf, withHouse } from '../with-house.js';
import { eventsOf, refusal, staying, stopEvents, typesOf } from './with-events.js';

const LONG_MS = 50_000;

t.afterEach(stopEvents);

t.test('a wait ends with what it waits for', async t => {
  const house = await withHouse(t);
  const { list, deps } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  const waits = ['message.received', 'message.failed'].map(type =>
    list({ after: 'now', types: [type], waitMs: type === 'message.failed' ? 300 : LONG_MS }),
  );
  const one = await letter(house, inbox, 'one');
  const [heard, unheard] = await Promise.all(waits);
  t.match(heard?.events, [{ type: 'message.received', message_id: one }]);
  t.strictSame(unheard?.events, []);
  t.equal(unheard?.next, heard?.next, 'the place has moved past what did not fit');
  t.equal(deps.waiters.count, 0);
});

t.test('what is there already is not waited for', async t => {
  const house = await withHouse(t);
  const { list } = eventsOf(house, 0);
  await house.addInbox('agent');
  t.strictSame(typesOf((await list({ waitMs: LONG_MS })).events), ['inbox.created'], 'and takes no place');
  t.equal(await refusal(() => list({ after: 'now', waitMs: LONG_MS })), 'rate_limited');
});

t.test('an account has so many waits, and all together have', async t => {
  const house = await withHouse(t);
  const { store } = house;
  const feed = new EventFeed({ store });
  const waiters = new Waiters({ store, feed }, { max: 3, maxOfAccount: 2 });
  const other = await house.addAccount('other@elsewhere.example');
  const first = waiters.enter(house.account, staying());
  waiters.enter(house.account, staying());
  t.equal(await refusal(async () => waiters.enter(house.account, staying())), 'rate_limited');
  waiters.enter(other, staying());
  t.equal(await refusal(async () => waiters.enter(other, staying())), 'rate_limited');
  first.leave();
  first.leave();
  t.equal(waiters.count, 2);
  waiters.enter(other, staying()).leave();
  waiters.enter(house.account, staying());
  waiters.stop();
  feed.stop();
});

t.test('a client that has gone gives its place back', async t => {
  const house = await withHouse(t);
  const { list, deps } = eventsOf(house);
  const client = new AbortController();
  const waiting = list({ after: 'now', waitMs: LONG_MS }, { isAllowed: () => true, gone: client.signal });
  while (deps.waiters.count === 0) await new Promise(setImmediate);
  client.abort();
  await waiting;
  t.equal(deps.waiters.count, 0);
});

t.test('a key that is revoked ends its waits and no other', async t => {
  const house = await withHouse(t);
  const { deps, list } = eventsOf(house);
  const authenticate = rememberingAuthenticator(house);
  const { credential, key_id: keyId } = await createKey(house, { account: house.account });
  const client = () => ({ ...staying(), isAllowed: () => authenticate(credential) !== null });
  const refused = refusal(() => list({ after: 'now', waitMs: LONG_MS }, client()));
  const input = { accountId: house.account, types: [], inboxId: null, after: 'now' };
  const parts = followEvents(deps, input, client());
  t.match((await parts.next()).value, { picked: [] });
  const kept = list({ after: 'now', waitMs: LONG_MS });
  await revokeKeyById(house, keyId);
  t.equal(await refused, 'unauthorized');
  t.equal((await parts.next()).done, true);
  t.equal(deps.waiters.count, 1);
  await house.addInbox('agent');
  t.strictSame(typesOf((await kept).events), ['inbox.created']);
});

t.test('all end at once when the service stops', async t => {
  const house = await withHouse(t);
  const { deps, list } = eventsOf(house);
  const { next } = await list();
  const waits = Array.from({ length: 50 }, () => list({ after: next, waitMs: LONG_MS }));
  const input = { accountId: house.account, types: [], inboxId: null, after: null };
  const parts = followEvents(deps, input, staying());
  await parts.next();
  while (deps.waiters.count < 51) await new Promise(setImmediate);
  deps.waiters.stop();
  t.ok((await Promise.all(waits)).every(page => page.events.length === 0 && page.next === next));
  t.equal((await parts.next()).done, true);
  t.strictSame((await list({ after: next, waitMs: LONG_MS })).events, [], 'later ones do not begin');
  t.equal(deps.waiters.count, 0);
});

t.test('what another process has committed is heard of', async t => {
  const house = await withHouse(t);
  const { list } = eventsOf(house);
  const waiting = list({ after: 'now', waitMs: LONG_MS });
  const store = await openMigratedStore(storeOptions(house.store.path));
  t.teardown(() => store.close());
  await inNameOf(houseOn(store, house.now), house.account).addInbox('agent');
  t.strictSame(typesOf((await waiting).events), ['inbox.created']);
});

t.test('a stream goes on where the last one ended, and tells its place', async t => {
  const house = await withHouse(t);
  const { deps } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  await letter(house, inbox, 'one');
  const input = { accountId: house.account, types: [], inboxId: null, after: null };
  const parts = followEvents(deps, input, staying());
  t.match((await parts.next()).value, { picked: [], place: { sequence: 0 } });
  t.match((await parts.next()).value, { picked: [{}, {}], place: { sequence: 2 } });
  const next = parts.next();
  await letter(house, inbox, 'two');
  t.match((await next).value, { picked: [{ event: { sequence: 3 } }] });
  await parts.return();
  t.equal(deps.waiters.count, 0);
});

t.test('a filter that hardly anything meets has a place that moves on', async t => {
  const house = await withHouse(t);
  const { list } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  for (let n = 0; n < 150; n++) await letter(house, inbox, `${n}`);
  const rare = await list({ types: ['inbox.deleted'] });
  t.strictSame(rare.events, []);
  t.strictSame((await list({ after: rare.next })).events, []);
  const all = await list({ limit: 100 });
  t.equal(all.events.length, 100);
  t.equal((await list({ after: all.next })).events.length, 51);
});

t.test('the next message that meets conditions is waited for', async t => {
  const house = await withHouse(t);
  const { deps, list } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  const other = await house.addInbox('other');
  const { next: since } = await list();
  const ask = (subject: string | null, waitMs: number, from: string | null = since) =>
    waitForMessage(
      { ...deps, index: new NaiveIndex() },
      { accountId: house.account, inboxId: inbox, filter: { ...NO_FILTER, subject }, since: from, waitMs },
      staying(),
    );
  const waiting = [ask(null, LONG_MS), ask('WORLD', LONG_MS), ask('nothing', 500), ask(null, LONG_MS, null)];
  await letter(house, other, 'x');
  const hello = await letter(house, inbox, 'a', [], { fields: { subject: 'Hello' } });
  const world = await letter(house, inbox, 'b', [], { fields: { subject: 'Hello world' } });
  const [first, second, none, now] = await Promise.all(waiting);
  t.strictSame([idOf(first!), idOf(second!), idOf(none!), idOf(now!)], [hello, world, null, hello]);
  t.equal(idOf(await ask(null, 0, first?.nextCursor)), world, 'the next one after it');
  t.equal(idOf(await ask(null, 0, none?.nextCursor)), null);
  t.equal(idOf(await ask('HELLO', 0)), hello);
});

t.test('the next message with words is waited for, whether the search index knows it yet or not', async t => {
  const house = await withHouse(t);
  const { deps, list } = eventsOf(house);
  const index = new NaiveIndex();
  const inbox = await house.addInbox('agent');
  const { next: start } = await list();
  const ask = (query: string, since: string, waitMs: number) =>
    waitForMessage(
      { ...deps, index },
      {
        accountId: house.account,
        inboxId: inbox,
        filter: { ...NO_FILTER, terms: parseSearch(query) },
        since,
        waitMs,
      },
      staying(),
    );
  const waiting = [ask('"your code"', start, LONG_MS), ask('absent', start, 500)];
  for (let n = 0; n < 3; n++) await letter(house, inbox, `${n}`, [], { content: { subject: 'code your' } });
  const first = await letter(house, inbox, 'a', [], { content: { subject: 'Your CODE is 1' } });
  const second = await letter(house, inbox, 'b', [], { content: { subject: 'Your code is 2' } });
  const [heard, unheard] = await Promise.all(waiting);
  t.strictSame([idOf(heard!), idOf(unheard!)], [first, null]);
  t.equal(idOf(await ask('"your code"', heard!.nextCursor, 0)), second);
  await index.takeIn(house.store, house.account);
  t.equal(idOf(await ask('"your code"', start, 0)), first, 'found in the index');
  t.equal(idOf(await ask('"your code"', heard!.nextCursor, 0)), second);
  t.equal(idOf(await ask('absent', start, 0)), null);
});

const idOf = ({ message }: { readonly message: Buffer | null }): string | null =>
  message === null ? null : (JSON.parse(message.toString('utf8')).id as string);
