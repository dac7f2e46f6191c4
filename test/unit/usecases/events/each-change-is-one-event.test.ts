import t from 'tap';
import type { AccountEvent } from '../../../../src/contract/events.js';
import { type DeliveryId, type MessageId, newId } from '../../../../src/domain/ids.js';
import {
  type DeliveryRecord,
  type RecipientDelivery,
  saveDelivery,
} from '../../../../src/store/records/deliveries.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { letter, parseLetter } from '../threads/with-threads.js';
import { Desk, REJECTED } from '../with-desk.js';
import { DAY_MS, withHouse } from '../with-house.js';
import { gaveUp, index } from '../with-parser.js';
import { eventsOf, refusal, typesOf } from './with-events.js';

t.test('mail that comes, fails, is moved and erased', async t => {
  const house = await withHouse(t);
  const { all } = eventsOf(house);
  const { account: accountId } = house;
  const inbox = await house.addInbox('agent');
  const one = await letter(house, inbox, 'one');
  const bad = await house.receive('x', inbox);
  await index(house, bad, gaveUp('timeout'));
  const input = { accountId, messageId: one, kind: 'received' } as const;
  await changeLabels(house, { ...input, add_labels: ['seen'] });
  await trashMessage(house, input);
  await trashMessage(house, input);
  await restoreMessage(house, input);
  await restoreMessage(house, input);
  await trashMessage(house, input);
  house.now.ms += 8 * DAY_MS;
  await house.sweepAll();
  await deleteMessage(house, { ...input, messageId: bad });
  const events = await all();
  t.strictSame(typesOf(events), [
    'inbox.created',
    'message.received',
    'message.failed',
    'trash.moved',
    'trash.restored',
    'trash.moved',
    'trash.purged',
    'trash.purged',
  ]);
  t.strictSame(
    events.map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  t.equal(new Set(events.map(({ id }) => id)).size, 8);
  t.match(events[1], { inbox_id: inbox, message_id: one, summary: null });
  t.match(events[6], { message_id: one, kind: 'received', created_at: '2026-01-23T12:00:00.000Z' });
  t.strictSame(verifyStore(house.store).faults, []);
});

t.test('mail that is parsed again has come once', async t => {
  const house = await withHouse(t);
  const { all } = eventsOf(house);
  const inbox = await house.addInbox('agent');
  const one = await letter(house, inbox, 'one');
  const bad = await house.receive('x', inbox);
  await index(house, bad, gaveUp('timeout'));
  await reparseMessage(house, one);
  await parseLetter(house, one, 'one');
  await reparseMessage(house, bad);
  await parseLetter(house, bad, 'x');
  t.strictSame(
    (await all()).map(event => ('message_id' in event ? [event.type, event.message_id] : event.type)),
    ['inbox.created', ['message.received', one], ['message.failed', bad], ['message.received', bad]],
  );
});

t.test('a summary is what lists show when it is asked for', async t => {
  const house = await withHouse(t);
  const { all } = eventsOf(house);
  const { account: accountId } = house;
  const inbox = await house.addInbox('agent');
  const one = await letter(house, inbox, 'one');
  const input = { accountId, messageId: one, kind: 'received' } as const;
  const received = async () => (await all({ types: ['message.received'] }))[0];
  t.match(await received(), { summary: { id: one, processing_status: 'ready', labels: [] } });
  await changeLabels(house, { ...input, add_labels: ['seen'] });
  t.match(await received(), { summary: { labels: ['seen'] } });
  await trashMessage(house, input);
  t.equal((await received())?.summary, null);
  await restoreMessage(house, input);
  t.match(await received(), { summary: { id: one } });
  await deleteInbox(house, { accountId, inboxId: inbox });
  const events = await all();
  t.equal(events.at(-1)?.type, 'inbox.deleted');
  t.ok(
    events.every(({ summary }) => summary === null),
    'all is gone with its inbox',
  );
  const count = events.length;
  await house.sweepAll();
  t.equal((await all()).length, count, 'and nothing more is told of it');
});

t.test('sends have their outcome, and conversations become one', async t => {
  const house = await withHouse(t);
  const { all } = eventsOf(house);
  const desk = new Desk(house);
  const { account: accountId } = house;
  const inbox = await house.addInbox('agent');
  const send = async (subject: string) => {
    const done = await sendMessage(desk.deps, { ...mail, subject });
    if (done.limited) throw new Error('the allowance is used up');
    return done.message;
  };
  const mail = { accountId, inboxId: inbox, to: [{ address: 'a@elsewhere.example' }], text: 'Hi' };
  const sent = await send('One');
  desk.outcome = REJECTED;
  const refused = await send('Two');
  const a = await letter(house, inbox, 'a');
  const b = await letter(house, inbox, 'b');
  await letter(house, inbox, 'c', ['a', 'b']);
  const events = await all();
  t.strictSame(typesOf(events), [
    'inbox.created',
    'send.outcome',
    'send.outcome',
    'message.received',
    'message.received',
    'thread.merged',
    'message.received',
  ]);
  t.match(events[1], { message_id: sent.id, summary: { status: 'accepted' } });
  t.match(events[2], { message_id: refused.id, summary: { status: 'rejected' } });
  const [first, second, third] = events
    .slice(3)
    .filter(({ type }) => type === 'message.received') as Received[];
  t.strictSame([first?.message_id, second?.message_id], [a, b]);
  const merged = events[5] as Extract<AccountEvent, { type: 'thread.merged' }>;
  t.not(merged.thread_id, merged.merged_thread_id);
  t.strictSame(
    [first, second, third].map(one => one?.thread_id),
    [merged.thread_id, merged.thread_id, merged.thread_id],
    'conversations are named as they are now',
  );
});

type Received = Extract<AccountEvent, { type: 'message.received' }>;

t.test('each account has its own feed', async t => {
  const house = await withHouse(t);
  const { all, list } = eventsOf(house);
  const other = await house.addAccount('other@elsewhere.example');
  const ours = await house.addInbox('ours');
  const theirs = await house.addInbox('theirs', other);
  await letter(house, theirs, 'one');
  t.strictSame(
    (await all()).map(event => event.inbox_id),
    [ours],
  );
  t.strictSame(typesOf(await all({ accountId: other })), ['inbox.created', 'message.received']);
  const { next } = await list({ accountId: other });
  t.equal(await refusal(() => list({ after: next })), 'cursor_expired', 'a place in another feed');
  t.equal(await refusal(() => list({ inboxId: theirs })), 'not_found');
  t.equal(await refusal(() => list({ types: ['message.read'] })), 'invalid_search');
  t.equal(await refusal(() => list({ after: 'nonsense' })), 'invalid_cursor');
});

t.test('what becomes of a delivery is told, and what only prepares for it is not', async t => {
  const house = await withHouse(t);
  const { all } = eventsOf(house);
  const inboxId = await house.addInbox('agent');
  const nowMs = house.now.ms;
  const recipient = {
    address: 'a@elsewhere.example',
    state: 'queued',
    attempts: 0,
    at: nowMs,
    host: null,
    tls: null,
    code: null,
    reply: null,
    isTold: false,
  } as const;
  const made: DeliveryRecord = {
    id: newId<DeliveryId>(nowMs),
    sentId: newId<MessageId>(nowMs),
    inboxId,
    accountId: house.account,
    domain: 'elsewhere.example',
    from: 'agent@example.org',
    content: null,
    recipients: [recipient],
    createdAt: nowMs,
    attempts: 0,
    nextAt: nowMs,
    dueAt: nowMs,
    toldDelay: false,
  };
  let last: DeliveryRecord | null = null;
  const save = async (change: Partial<RecipientDelivery>) => {
    const [before] = (last ?? made).recipients;
    const after: DeliveryRecord = { ...made, recipients: [{ ...recipient, ...before, ...change }] };
    await house.store.write(writer => saveDelivery(writer, last, after, nowMs));
    last = after;
  };
  const told = async () => (await all({ types: ['delivery.changed'] })).length;
  await save({});
  await save({ state: 'sending' });
  t.equal(await told(), 0, 'made, and under way');
  await save({ state: 'queued', attempts: 1, code: '4.2.1', reply: '450 later' });
  t.equal(await told(), 1, 'tried once more');
  await save({ state: 'sending' });
  await save({ state: 'delivered', attempts: 2, code: '2.0.0', reply: '250 ok' });
  await save({ isTold: true });
  t.equal(await told(), 2);
  const [event] = await all({ types: ['delivery.changed'] });
  t.match(event, {
    message_id: made.sentId,
    delivery_id: made.id,
    summary: [{ recipient: 'a@elsewhere.example', state: 'delivered', attempts: 2 }],
  });
});
