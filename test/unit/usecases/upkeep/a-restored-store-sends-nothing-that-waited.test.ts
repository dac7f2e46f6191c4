import t from 'tap';
import { Refusal } from '../../../../src/domain/errors.js';
import { type MessageId, newId } from '../../../../src/domain/ids.js';
import { getSent } from '../../../../src/store/mailbox/messages.js';
import { findLink, findPhrase, putNewLink, putNewPhrase } from '../../../../src/store/records/approvals.js';
import { getFeed, noteEvent } from '../../../../src/store/records/events.js';
import { END_OF_TIME, listDue } from '../../../../src/store/records/pending.js';
import { getSearch } from '../../../../src/store/records/search.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { createEvents } from '../../../../src/usecases/events/create-events.js';
import { EventFeed } from '../../../../src/usecases/events/event-feed.js';
import { readPlace, writePlace } from '../../../../src/usecases/events/event-places.js';
import { startAttempt } from '../../../../src/usecases/sending/attempt.js';
import { retrySends } from '../../../../src/usecases/sending/queue-admin.js';
import { resumeSending, viewRestored } from '../../../../src/usecases/upkeep/mark-restored.js';
import { tellEndpoint } from '../../../../src/usecases/webhooks/tell-endpoint.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { DeliveringDesk, withDeliveries } from '../sending/with-deliveries.js';
import { receiptOf, withSending } from '../sending/with-sending.js';
import { sequencesOf, withHooks } from '../webhooks/with-hooks.js';
import { houseOn, inNameOf, withHouse } from '../with-house.js';
import { restoredFrom } from './with-backups.js';

t.test(
  'a send that waited is held, and goes out when an admin says so, after sending was resumed',
  async t => {
    const house = await withSending(t, { responseTimeoutMs: 1 });
    house.side.mode = 'drop';
    const key = { idempotency_key: 'known-then' };
    const { message } = await receiptOf(house.submit(key));
    const id = message.id as MessageId;
    const { store, restored } = await restoredFrom(t, house);
    t.match(restored.marks, { held_sends: 1, unknown_sends: 0 });
    t.match(viewRestored(store), { is_held: true, snapshot_at: restored.snapshotAt });
    house.restart(store);
    t.match(
      await house.submit(),
      { ok: false, failure: { code: 'outbound_unavailable', message: /restored from a backup/ } },
      'new sends are refused',
    );
    t.match(
      await house.submit(key),
      { ok: true, value: { replayed: true } },
      'a key that is known is answered',
    );
    await retrySends({ store, clock: house.clock }, id);
    const begin = () => store.write(writer => startAttempt(writer, id, house.clock).kind);
    t.equal(await begin(), 'left', 'let go by an admin, it waits for the service as a whole');
    t.equal(await resumeSending({ store, clock: house.clock }), true);
    t.equal(await resumeSending({ store, clock: house.clock }), false);
    t.equal(await begin(), 'started');
    t.match(
      store.read(reader => getSent(reader, id)),
      { attempt: 'started' },
    );
    t.match(await house.submit({ subject: 'New' }), { ok: true });
    t.same([...readFacts(store).faults, ...verifyStore(store).faults], []);
  },
);

t.test('what was being handed over is unknown', async t => {
  const house = await withSending(t, { responseTimeoutMs: 1 });
  house.side.mode = 'drop';
  const { message } = await receiptOf(house.submit());
  const id = message.id as MessageId;
  await house.store.write(writer => startAttempt(writer, id, house.clock));
  const { store, restored } = await restoredFrom(t, house);
  t.match(restored.marks, { held_sends: 0, unknown_sends: 1 });
  t.match(
    store.read(reader => getSent(reader, id)),
    { attempt: 'settled', status: 'unknown', errorCode: 'acceptance_unknown' },
  );
});

t.test('a delivery that waited is unknown, and its sender hears of that once sending is resumed', async t => {
  const { desk, house, inbox } = await withDeliveries(t);
  const sentId = await desk.send(inbox, 'ann@far.example', 'bob@far.example');
  const { store, restored } = await restoredFrom(t, house);
  t.match(restored.marks, { unknown_deliveries: 1 });
  const other = new DeliveringDesk(inNameOf(houseOn(store, house.now), house.account));
  t.same(other.states(sentId), { 'ann@far.example': 'unknown', 'bob@far.example': 'unknown' });
  const [delivery] = other.of(sentId);
  t.ok((await other.deliver(delivery!.id))! > 0, 'it is looked at later');
  t.same([other.jobs.length, other.notices.length], [0, 0]);
  await resumeSending({ store, clock: house.clock });
  await other.deliver(delivery!.id);
  t.same([other.jobs.length, other.notices.length], [0, 1]);
  t.same(verifyStore(store).faults, []);
});

t.test('links, phrases and places in feeds of before are void', async t => {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const [link, phrase] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const common = { email: 'ann@x.example', createdAt: house.now.ms, expiresAt: house.now.ms + 60_000 };
  const { store, account, clock } = house;
  await store.write(writer => {
    putNewLink(writer, link, { ...common, id: newId(house.now.ms), method: 'mail', approvedAt: null });
    putNewPhrase(writer, phrase, { ...common, id: newId(house.now.ms), method: 'mail' });
  });
  await house.receive('Subject: before\r\n\r\nHello\r\n', inboxId);
  const happen = (into: typeof store) =>
    into.write(writer =>
      noteEvent(writer, { type: 'message.failed', inboxId, messageId: newId(clock()) }, clock()),
    );
  await happen(store);
  const before = new EventFeed({ store });
  const cursor = writePlace(before.end(account));
  const known = store.read(reader => getFeed(reader, account).next);
  const { store: other, restored } = await restoredFrom(t, house);
  t.match(restored.marks, { voided_links: 1, voided_phrases: 1 });
  other.read(reader => {
    t.equal(findLink(reader, link), undefined);
    t.equal(findPhrase(reader, phrase), undefined);
    t.same(listDue(reader, 'expire-link', END_OF_TIME, 10), []);
    t.match(getSearch(reader, account)?.rebuild?.reason ?? 'no index yet', /backup|no index yet/);
  });
  const feed = new EventFeed({ store: other });
  const code = (act: () => unknown): string => {
    try {
      act();
      return 'none';
    } catch (error) {
      return error instanceof Refusal ? error.failure.code : String(error);
    }
  };
  t.equal(
    code(() => readPlace({ store: other, feed }, account, cursor)),
    'cursor_expired',
  );
  const now = feed.end(account);
  await happen(other);
  const { events } = feed.listAfter(account, now.sequence, 10);
  t.equal(events.length, 1, 'the feed goes on');
  t.ok(events[0]!.sequence > known + 1_000_000, 'with numbers that were never given');
  t.equal(
    code(() => readPlace({ store: other, feed }, account, writePlace(now))),
    'none',
  );
  t.equal(
    code(() => readPlace({ store: other, feed }, account, cursor)),
    'cursor_expired',
  );
  t.same(verifyStore(other).faults, []);
});

t.test('webhooks are held, and hear first that events are missing', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  await hooks.happen(3);
  const { store } = await restoredFrom(t, hooks.house);
  const { feed, views } = createEvents(store, 10);
  t.teardown(() => feed.stop());
  const deps = { ...hooks.deps, store, feed, views };
  await store.write(writer =>
    noteEvent(writer, { type: 'message.failed', inboxId: hooks.inboxId, messageId: newId(0) }, 0),
  );
  const tell = () => tellEndpoint(deps, webhook.id as Parameters<typeof tellEndpoint>[1]);
  t.equal(await tell(), undefined);
  t.equal(hooks.receiver.received.length, 0);
  await resumeSending({ store, clock: hooks.house.clock });
  while ((await tell()) === 0);
  const types = hooks.receiver.received.map(({ json }) => (json as unknown as { type: string }).type);
  t.same(types, ['feed.gap', 'message.failed']);
  t.ok(sequencesOf(hooks.receiver.received).every(sequence => sequence > 1_000_000));
  t.same(verifyStore(store).faults, []);
});
