import t from 'tap';
import { END_OF_TIME, listDue } from '../../../../src/store/records/pending.js';
import { updateWebhook } from '../../../../src/usecases/webhooks/webhooks.js';
import { sequencesOf, upTo, withHooks } from './with-hooks.js';

const HOUR = 3_600_000;

async function newsOf({ house }: Awaited<ReturnType<typeof withHooks>>) {
  return house.store.read(reader =>
    listDue(reader, 'webhook-mail', END_OF_TIME, 10).map(({ work }) => work.what),
  );
}

t.test('after three days without a success, and nothing is lost', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(() => 503);
  await hooks.happen(50);
  let hours = 0;
  for (; hooks.record(webhook).disabled === null; hours++) {
    t.ok(hours < 100, 'it ends');
    await hooks.tell(webhook);
    hooks.house.now.ms += HOUR;
  }
  t.ok(hours >= 72);
  t.match(hooks.record(webhook).disabled, { reason: 'dead' });
  t.strictSame(await newsOf(hooks), ['made', 'dead'], 'its human is to be told');
  const sent = hooks.receiver.received.length;
  await hooks.happen(10);
  t.equal(await hooks.tell(webhook), undefined);
  t.equal(hooks.receiver.received.length, sent, 'nothing more is sent');
  t.strictSame(hooks.faults(), []);
  hooks.receiver.answers(() => 204);
  const caller = { accountId: hooks.house.account };
  t.match(await updateWebhook(hooks.webhooks, { caller, webhookId: webhook.id, enabled: true }), {
    status: 'enabled',
    disabled_reason: null,
    failing_since: null,
  });
  t.equal(await hooks.tell(webhook), undefined);
  t.strictSame(
    sequencesOf(hooks.receiver.taken).sort((a, b) => a - b),
    upTo(2, 61),
  );
  t.strictSame(hooks.faults(), []);
});

t.test('at once when it answers 410', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(() => 410);
  await hooks.happen(3);
  t.equal(await hooks.tell(webhook), undefined);
  t.match(hooks.record(webhook), { disabled: { reason: 'gone' }, last: { status: 410, reason: 'gone' } });
  t.strictSame(await newsOf(hooks), ['made', 'gone']);
  hooks.receiver.answers(() => 204);
  const caller = { accountId: hooks.house.account };
  await updateWebhook(hooks.webhooks, { caller, webhookId: webhook.id, enabled: true });
  await hooks.tell(webhook);
  t.strictSame(sequencesOf(hooks.receiver.taken).sort(), [2, 3, 4]);
});

t.test('not by a clock that may be wrong', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(() => 500);
  await hooks.happen(1);
  await hooks.tell(webhook);
  hooks.house.now.ms += 100 * 24 * HOUR;
  hooks.house.now.isInDoubt = true;
  await hooks.tell(webhook);
  t.equal(hooks.record(webhook).disabled, null);
  hooks.house.now.isInDoubt = false;
  hooks.house.now.ms += 13 * HOUR;
  await hooks.tell(webhook);
  t.match(hooks.record(webhook).disabled, { reason: 'dead' });
});

t.test('whoever enables it after its events are gone hears first that some are missing', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(() => 500);
  await hooks.happen(3);
  await hooks.tell(webhook);
  const caller = { accountId: hooks.house.account };
  await updateWebhook(hooks.webhooks, { caller, webhookId: webhook.id, enabled: false });
  // Only the newest ten are kept: dropped two at a time.
  for (let n = 0; n < 40; n++) await hooks.happen(1, hooks.inboxId, 10);
  hooks.receiver.received.length = 0;
  hooks.receiver.answers(() => 500);
  await updateWebhook(hooks.webhooks, { caller, webhookId: webhook.id, enabled: true });
  const pauseMs = await hooks.tell(webhook);
  t.strictSame(
    hooks.receiver.received.map(({ json }) => json.type),
    ['feed.gap'],
    'and nothing before it is taken',
  );
  const [gap] = hooks.receiver.received;
  t.match(hooks.record(webhook), { open: 0, gap: { attempts: 1 } });
  hooks.house.now.ms += pauseMs ?? 0;
  hooks.receiver.answers(() => 200);
  t.equal(await hooks.tell(webhook), undefined);
  const [again, ...others] = hooks.receiver.taken;
  t.strictSame(again?.json, gap?.json, 'the same again');
  t.match(gap?.json, { type: 'feed.gap', first_missing: 2, last_missing: gap?.json.sequence, summary: null });
  t.strictSame(
    sequencesOf(others).sort((a, b) => a - b),
    upTo(gap?.json.last_missing + 1, 44),
  );
  t.strictSame(hooks.faults(), []);
});
