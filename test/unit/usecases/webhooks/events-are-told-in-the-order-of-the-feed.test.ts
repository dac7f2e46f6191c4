import t from 'tap';
import type { WebhookId } from '../../../../src/domain/ids.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { tellEndpoint } from '../../../../src/usecases/webhooks/tell-endpoint.js';
import { sequencesOf, upTo, withHooks } from './with-hooks.js';

t.test('every event from its making on is told once, eight at a time at most', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  await hooks.happen(100);
  t.equal(await hooks.tell(webhook), undefined, 'nothing is left to do');
  const { received, open } = hooks.receiver;
  // The first event of the account is its inbox, which was there before.
  t.strictSame(
    [...sequencesOf(received)].sort((a, b) => a - b),
    upTo(2, 101),
  );
  t.ok(open.most <= 8);
  t.match(hooks.record(webhook), { place: 101, open: 0, failures: 0, last: { status: 204, reason: null } });
  t.strictSame(hooks.faults(), []);
  await hooks.tell(webhook);
  t.equal(received.length, 100, 'and not again');
});

t.test('they are started in their order', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  await hooks.happen(30);
  // With one answer at a time, what is sent next shows what was started.
  const order: number[] = [];
  hooks.receiver.answers(({ json }) => {
    order.push(json.sequence);
    return 200;
  });
  await hooks.tell(webhook);
  for (const [at, sequence] of order.entries()) {
    t.ok(Math.abs(sequence - (at + 2)) < 8, `${sequence} is among the eight that were under way`);
  }
});

t.test('what is told is the event as the feed shows it, with its own id as that of the message', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  await hooks.happen(1);
  await hooks.tell(webhook);
  const [one] = hooks.receiver.received;
  t.match(one?.json, {
    sequence: 2,
    type: 'message.failed',
    inbox_id: hooks.inboxId,
    message_id: String,
    created_at: '2026-01-15T12:00:00.000Z',
    summary: null,
  });
  t.equal(one?.headers['webhook-id'], one?.json.id);
  t.equal(one?.headers['content-type'], 'application/json');
});

t.test('others are left out, and the place goes past them', async t => {
  const hooks = await withHooks(t);
  const other = await hooks.house.addInbox('other');
  const byType = await hooks.make({ types: ['inbox.deleted'] });
  const byInbox = await hooks.make({ inbox_ids: [other], url: `${hooks.receiver.url}/inbox` });
  await hooks.happen(250);
  await hooks.happen(2, other);
  await deleteInbox(hooks.house, { accountId: hooks.house.account, inboxId: other });
  const last = 2 + 250 + 2 + 1;
  await hooks.tell(byType);
  await hooks.tell(byInbox);
  const told = (path: string) =>
    hooks.receiver.received.filter(one => one.path === path).map(one => one.json.sequence);
  t.strictSame(told('/hook'), [last]);
  t.strictSame(
    told('/hook/inbox').sort((a, b) => a - b),
    [last - 2, last - 1, last],
  );
  t.equal(hooks.record(byType).place, last);
  t.equal(hooks.record(byInbox).place, last);
});

t.test('what was under way when the process ended is told again, with the same id', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  await hooks.happen(20);
  const taken = new Set<string>();
  hooks.receiver.answers(({ json }) => {
    // The sixth never gets its answer: the process is cut off.
    if (json.sequence === 7) return 'silence';
    taken.add(json.id);
    return 204;
  });
  const run = tellEndpoint(hooks.deps, webhook.id as WebhookId);
  await hooks.receiver.until(({ received }) => received.some(({ json }) => json.sequence === 7));
  await hooks.caller.close(0);
  await run;
  t.ok(hooks.record(webhook).place < 7, 'the place has not gone past it');
  t.equal(hooks.record(webhook).failures, 0, 'and nothing is held against the endpoint');
  t.strictSame(hooks.faults(), []);
});
