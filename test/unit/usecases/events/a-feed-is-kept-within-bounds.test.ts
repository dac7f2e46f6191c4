import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { EventId } from '../../../../src/domain/ids.js';
import { openMigratedStore } from '../../../../src/store/open-store.js';
import { feedsTable, getFeed, noteEvent } from '../../../../src/store/records/events.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { Redating } from '../../../../src/usecases/upkeep/redate.js';
import { dataDirectory, storeOptions } from '../../store/with-store.js';
import { letter } from '../threads/with-threads.js';
import { DAY_MS, houseOn, inNameOf, withHouse } from '../with-house.js';
import { eventsOf, refusal, typesOf } from './with-events.js';

const HOUR_MS = 60 * 60 * 1000;

t.test('events go after thirty days, and their places with them', async t => {
  const house = await withHouse(t);
  const { all, list } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  const { next: atStart } = await list({ limit: 1 });
  await letter(house, inbox, 'one');
  house.now.ms += 20 * DAY_MS;
  await letter(house, inbox, 'two');
  const { next: atEnd } = await list();
  house.now.ms += 10 * DAY_MS;
  await house.sweepAll();
  t.equal((await all()).length, 3, 'not a moment too soon');
  house.now.ms += HOUR_MS;
  await house.sweepAll();
  t.strictSame(
    (await all()).map(({ sequence }) => sequence),
    [3],
  );
  t.equal(await refusal(() => list({ after: atStart })), 'cursor_expired');
  t.equal((await list({ after: atEnd })).events.length, 0);
  t.strictSame(verifyStore(house.store).faults, []);
  house.now.ms += 20 * DAY_MS + HOUR_MS;
  await house.sweepAll();
  t.equal((await all()).length, 0, 'the last one goes, too, though nothing has come since');
  t.equal((await list({ after: atEnd })).events.length, 0, 'nothing is missing after the last place');
  await letter(house, inbox, 'three');
  t.match(await list({ after: atEnd }), { events: [{ sequence: 4 }] });
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('a page that begins with the oldest event goes on though older ones leave', async t => {
  const house = await withHouse(t);
  const { list } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  const { next } = await list();
  house.now.ms += 2 * HOUR_MS;
  await letter(house, inbox, 'one');
  house.now.ms += 30 * DAY_MS - HOUR_MS;
  await house.sweepAll();
  t.match(await list({ after: next }), { events: [{ sequence: 2 }] });
});

t.test('beyond a number the oldest events go', async t => {
  const house = await withHouse(t);
  const { all, list } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  const { next: atStart } = await list();
  const facts = { type: 'inbox.created', inboxId: inbox } as const;
  await house.store.write(writer => {
    for (let n = 0; n < 20; n++) noteEvent(writer, facts, house.now.ms, 10);
  });
  const sequences = (await all()).map(({ sequence }) => sequence);
  t.strictSame([sequences.at(0), sequences.at(-1)], [12, 21]);
  t.equal(await refusal(() => list({ after: atStart })), 'cursor_expired');
  t.equal(await refusal(() => list({ after: atStart, waitMs: 1_000 })), 'cursor_expired');
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('what a clock ahead has dated goes after thirty days', async t => {
  const house = await withHouse(t);
  const { all } = eventsOf(house);
  const right = house.now.ms;
  const inbox = await house.addInbox('agent');
  house.now.ms = right + 400 * DAY_MS;
  await letter(house, inbox, 'one');
  house.now.ms = right + HOUR_MS;
  house.now.setBackMs = 400 * DAY_MS;
  await new Redating(house).run(() => false);
  house.now.ms += 30 * DAY_MS + HOUR_MS;
  await house.sweepAll();
  t.strictSame(await all(), []);
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('a place that a restored backup has undone is refused, and one from before is good', async t => {
  const path = dataDirectory(t);
  const backup = join(dataDirectory(t), 'backup');
  const now = { ms: Date.UTC(2026, 0, 15, 12) };
  const store = await openMigratedStore(storeOptions(path));
  const early = houseOn(store, now);
  const account = await early.addAccount('owner@elsewhere.example');
  const house = inNameOf(early, account);
  const inbox = await house.addInbox('agent');
  const { next: before } = await eventsOf(house).list();
  await store.close();
  cpSync(path, backup, { recursive: true });
  const first = await openMigratedStore(storeOptions(path));
  const lost = inNameOf(houseOn(first, now), account);
  await letter(lost, inbox, 'lost');
  const { next: undone } = await eventsOf(lost).list();
  await first.close();
  const second = await openMigratedStore(storeOptions(backup));
  t.teardown(() => second.close());
  const restored = inNameOf(houseOn(second, now), account);
  const { list } = eventsOf(restored);
  t.equal(await refusal(() => list({ after: undone })), 'cursor_expired', 'nothing has come since');
  await letter(restored, inbox, 'other');
  await letter(restored, inbox, 'another');
  t.equal(await refusal(() => list({ after: undone })), 'cursor_expired', 'other things have');
  t.strictSame(typesOf((await list({ after: before })).events), ['message.received', 'message.received']);
});

t.test('damage is told', async t => {
  const house = await withHouse(t);
  await house.addInbox('agent');
  const { account: accountId } = house;
  await house.store.write(writer => {
    const feed = getFeed(writer, accountId);
    const id = 'x' as EventId;
    writer.put(feedsTable, accountId, { ...feed, next: feed.next + 1, before: id, forgetAt: null });
  });
  t.match(verifyStore(house.store).faults, [
    /^missing: event 2 of account/,
    /^missing: instant to forget events of account/,
    /^there without reason: pending expiry of events/,
  ]);
});
