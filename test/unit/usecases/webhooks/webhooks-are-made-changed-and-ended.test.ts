import t from 'tap';
import { MemoryRateLimiter } from '../../../../src/queue/rate-limiter.js';
import { createInbox } from '../../../../src/usecases/inboxes/create-inbox.js';
import { listWebhookDeliveries } from '../../../../src/usecases/webhooks/list-webhook-deliveries.js';
import { replayWebhook } from '../../../../src/usecases/webhooks/replay-webhook.js';
import { testWebhook } from '../../../../src/usecases/webhooks/test-webhook.js';
import {
  createWebhook,
  deleteWebhook,
  getWebhookOf,
  listWebhooks,
  rotateSecret,
  updateWebhook,
} from '../../../../src/usecases/webhooks/webhooks.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { refusal } from '../events/with-events.js';
import { sequencesOf, upTo, withHooks } from './with-hooks.js';

t.test('a secret is shown when it is made, and never again', async t => {
  const hooks = await withHooks(t);
  const made = await hooks.make({ types: ['send.outcome', 'message.received', 'send.outcome'] });
  t.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.strictSame(made.types, ['message.received', 'send.outcome'], 'each once, in the order of the contract');
  const { secret, ...shown } = made;
  t.strictSame(listWebhooks(hooks.house, hooks.house.account), { webhooks: [shown] });
  const ofIt = { caller: { accountId: hooks.house.account }, webhookId: made.id };
  t.strictSame(getWebhookOf(hooks.house, ofIt), shown);
  const rotated = await rotateSecret(hooks.webhooks, ofIt);
  t.not(rotated.secret, secret);
  t.match(rotated.secrets, [{ expires_at: null }, { expires_at: '2026-01-16T12:00:00.000Z' }]);
  t.match((await rotateSecret(hooks.webhooks, ofIt)).secrets.length, 2, 'never more than two');
  hooks.house.now.ms += 24 * 3_600_000;
  t.match(getWebhookOf(hooks.house, ofIt).secrets, [{ expires_at: null }]);
});

t.test('an account has ten at most', async t => {
  const hooks = await withHooks(t);
  for (let n = 0; n < 10; n++) await hooks.make();
  t.equal(await refusal(() => hooks.make()), 'webhook_limit_reached');
  const other = await hooks.house.addAccount('other@elsewhere.example');
  await createWebhook(hooks.webhooks, { accountId: other, url: hooks.receiver.url });
  const [first] = listWebhooks(hooks.house, hooks.house.account).webhooks;
  await deleteWebhook(hooks.webhooks, {
    caller: { accountId: hooks.house.account },
    webhookId: first?.id ?? '',
  });
  await hooks.make();
  t.strictSame(hooks.faults(), []);
});

t.test('its human hears of twenty in a day at most', async t => {
  const hooks = await withHooks(t);
  const deps = { ...hooks.webhooks, limiter: new MemoryRateLimiter({ clock: hooks.house.clock }) };
  const caller = { accountId: hooks.house.account };
  const { id } = await createWebhook(deps, { accountId: hooks.house.account, url: hooks.receiver.url });
  const lead = (n: number) =>
    outcomeOf(() => updateWebhook(deps, { caller, webhookId: id, url: `${hooks.receiver.url}/${n}` }));
  for (let n = 1; n < 20; n++) t.ok((await lead(n)).ok);
  t.match(await lead(20), { failure: { code: 'rate_limited', retryAfterS: Number } });
  const same = await updateWebhook(deps, {
    caller,
    webhookId: id,
    url: `${hooks.receiver.url}/19`,
    types: [],
  });
  t.equal(same.url, `${hooks.receiver.url}/19`, 'what leads where it led is no news');
});

t.test('one that ends again and again is enabled twenty times a day at most', async t => {
  const hooks = await withHooks(t);
  const { id } = await hooks.make();
  const deps = { ...hooks.webhooks, limiter: new MemoryRateLimiter({ clock: hooks.house.clock }) };
  const caller = { accountId: hooks.house.account };
  hooks.receiver.answers(() => 410);
  await hooks.happen(1);
  const set = (enabled: boolean) => outcomeOf(() => updateWebhook(deps, { caller, webhookId: id, enabled }));
  for (let n = 0; n < 20; n++) {
    await hooks.tell({ id });
    t.match(hooks.record({ id }).disabled, { reason: 'gone' });
    t.ok((await set(true)).ok);
    t.ok((await set(true)).ok, 'once more changes nothing and costs nothing');
  }
  await hooks.tell({ id });
  t.match(await set(true), { failure: { code: 'rate_limited', retryAfterS: Number } });
  t.match(hooks.record({ id }).disabled, { reason: 'gone' });
});

t.test('URLs that must not be called are refused', async t => {
  const hooks = await withHooks(t);
  const strict = { ...hooks.webhooks, urls: { ...hooks.webhooks.urls, allowsHttp: false } };
  const make = (url: string, deps = strict) =>
    refusal(() => createWebhook(deps, { accountId: hooks.house.account, url }));
  for (const url of [
    'http://example.com/',
    'ftp://example.com/',
    'nonsense',
    '/hook',
    'https://user@example.com/',
    'https://:secret@example.com/',
    'https://example.com/#part',
    'https://example.com:25/',
    'https://10.0.0.1/',
    'https://127.0.0.2/',
    'https://2130706434/',
    'https://0x7f000002/',
    'https://169.254.169.254/latest',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:a00:1::]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    `https://example.com/${'x'.repeat(2048)}`,
  ]) {
    t.equal(await make(url), 'invalid_webhook', url.slice(0, 60));
  }
  t.equal(await make('https://127.0.0.1/'), null, 'the operator lists it');
  t.equal(await make('https://Example.COM:8443/a?b=c'), null);
  t.equal(await make('http://example.com/', hooks.webhooks), null, 'where http is allowed');
  const urls = listWebhooks(hooks.house, hooks.house.account).webhooks.map(({ url }) => url);
  t.ok(urls.includes('https://example.com:8443/a?b=c'));
});

t.test('what is another account’s is as missing as what never was', async t => {
  const hooks = await withHooks(t);
  const { id } = await hooks.make();
  const other = await hooks.house.addAccount('other@elsewhere.example');
  const { caller: hook, deps, webhooks } = hooks;
  const acts = [
    (who: object) => getWebhookOf(webhooks, who as never),
    (who: object) => updateWebhook(webhooks, { ...who, enabled: false } as never),
    (who: object) => deleteWebhook(webhooks, who as never),
    (who: object) => rotateSecret(webhooks, who as never),
    (who: object) => testWebhook({ ...webhooks, caller: hook, tests: { count: 0 } }, who as never),
    (who: object) => listWebhookDeliveries(webhooks, who as never),
    (who: object) => replayWebhook(deps, { ...who, after: 'now' } as never),
  ];
  for (const act of acts) {
    for (const webhookId of [id, 'nonsense', '01890000-0000-7000-8000-000000000000']) {
      t.equal(await refusal(async () => act({ caller: { accountId: other }, webhookId })), 'not_found');
    }
  }
  const inbox = await createInbox(hooks.house.inboxes, { accountId: other, local_part: 'theirs' });
  t.equal(await refusal(() => hooks.make({ inbox_ids: [inbox.id] })), 'not_found');
});

t.test('everything after a place is sent again', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  await hooks.happen(10);
  hooks.receiver.answers(({ json }) => (json.sequence === 6 ? 500 : 204));
  await hooks.tell(webhook);
  const ofIt = { caller: { accountId: hooks.house.account }, webhookId: webhook.id };
  t.match(listWebhookDeliveries(hooks.house, ofIt).deliveries, [
    { sequence: 6, state: 'waiting', attempts: 1, last_attempt: { status: 500 } },
    ...Array.from({ length: 9 }, () => ({ state: 'delivered', attempts: 1 })),
  ]);
  hooks.receiver.answers(() => 204);
  hooks.receiver.received.length = 0;
  t.match(await replayWebhook(hooks.deps, { ...ofIt, after: 4 }), { sequence: 4, waiting: 0 });
  await hooks.tell(webhook);
  t.strictSame(
    sequencesOf(hooks.receiver.received).sort((a, b) => a - b),
    upTo(5, 11),
  );
  t.match(await replayWebhook(hooks.deps, { ...ofIt, after: 'now' }), { sequence: 11 });
  t.equal(await refusal(() => replayWebhook(hooks.deps, { ...ofIt, after: 12 })), 'invalid_cursor');
  t.equal(await refusal(() => replayWebhook(hooks.deps, { ...ofIt, after: 'nonsense' })), 'invalid_cursor');
  for (let n = 0; n < 20; n++) await hooks.happen(1, hooks.inboxId, 5);
  t.equal(await refusal(() => replayWebhook(hooks.deps, { ...ofIt, after: 4 })), 'cursor_expired');
  t.strictSame(hooks.faults(), []);
});

t.test('a test is sent at once, and when it is taken, so is what waits', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  const deps = { ...hooks.webhooks, caller: hooks.caller, tests: { count: 0 } };
  const ofIt = { caller: { accountId: hooks.house.account }, webhookId: webhook.id };
  hooks.receiver.answers(() => 503);
  await hooks.happen(3);
  await hooks.tell(webhook);
  t.match(await testWebhook(deps, ofIt), { status: 503, reason: 'status' });
  t.ok(((await hooks.tell(webhook)) ?? 0) > 0, 'a failure changes nothing');
  hooks.receiver.answers(() => 200);
  const result = await testWebhook(deps, ofIt);
  t.match(result, { status: 200, reason: null });
  t.match(hooks.receiver.taken, [{ json: { id: result.id, type: 'webhook.test', summary: null } }]);
  t.equal(await hooks.tell(webhook), undefined);
  t.strictSame(sequencesOf(hooks.receiver.taken.slice(1)).sort(), [2, 3, 4]);
  await hooks.receiver.stop();
  t.match(await testWebhook(deps, ofIt), { status: null, reason: 'unreachable' });
});

t.test('sixteen are tested at a time, of all accounts', async t => {
  const hooks = await withHooks(t);
  const { id: webhookId } = await hooks.make();
  let answer = (): void => undefined;
  const gate = new Promise<void>(resolve => {
    answer = resolve;
  });
  hooks.receiver.answers(() => gate);
  const deps = { ...hooks.webhooks, caller: hooks.caller, tests: { count: 0 } };
  const test = () => testWebhook(deps, { caller: { accountId: hooks.house.account }, webhookId });
  const running = Array.from({ length: 16 }, test);
  await hooks.receiver.until(({ open }) => open.now === 16);
  t.match(await outcomeOf(test), { failure: { code: 'rate_limited', retryAfterS: 5 } });
  answer();
  t.match(await Promise.all(running), Array(16).fill({ status: 204, reason: null }));
  t.match(await test(), { status: 204 }, 'their places are free again');
});

t.test('what is deleted or disabled while events are under way is not touched any more', async t => {
  const hooks = await withHooks(t);
  const caller = { accountId: hooks.house.account };
  for (const end of [
    (id: string) => deleteWebhook(hooks.webhooks, { caller, webhookId: id }),
    (id: string) => updateWebhook(hooks.webhooks, { caller, webhookId: id, enabled: false }),
    (id: string) => replayWebhook(hooks.deps, { caller, webhookId: id, after: 'now' }),
  ]) {
    const webhook = await hooks.make();
    hooks.receiver.received.length = 0;
    let go = (): void => undefined;
    const gate = new Promise<void>(resolve => {
      go = resolve;
    });
    hooks.receiver.answers(() => gate);
    await hooks.happen(30);
    const telling = hooks.tell(webhook);
    await hooks.receiver.until(({ received }) => received.length === 8);
    await end(webhook.id);
    go();
    await telling;
    t.equal(hooks.receiver.received.length, 8, 'nothing more is started');
    t.strictSame(hooks.faults(), []);
  }
});

t.test('a new URL is told at once what the old one did not take', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(({ path }) => (path === '/hook' ? 500 : 204));
  await hooks.happen(12);
  t.ok(((await hooks.tell(webhook)) ?? 0) > 0);
  await updateWebhook(hooks.webhooks, {
    caller: { accountId: hooks.house.account },
    webhookId: webhook.id,
    url: `${hooks.receiver.url}/new`,
  });
  t.equal(await hooks.tell(webhook), undefined);
  t.strictSame(
    sequencesOf(hooks.receiver.taken).sort((a, b) => a - b),
    upTo(2, 13),
  );
});
