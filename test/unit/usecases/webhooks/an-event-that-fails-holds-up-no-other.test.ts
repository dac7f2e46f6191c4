import t from 'tap';
import type { WebhookId } from '../../../../src/domain/ids.js';
import { outcomesOf } from '../../../../src/store/records/webhooks.js';
import { tellEndpoint } from '../../../../src/usecases/webhooks/tell-endpoint.js';
import { sequencesOf, upTo, withHooks } from './with-hooks.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

t.test('the next ones are told, and it is tried again after 5 seconds up to 12 hours', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(({ json }) => (json.sequence === 3 ? 500 : 204));
  await hooks.happen(20);
  const pauses: number[] = [];
  for (let tries = 1; ; tries++) {
    const pauseMs = await hooks.tell(webhook);
    t.strictSame(
      sequencesOf(hooks.receiver.taken).sort((a, b) => a - b),
      [2, ...upTo(4, 21)],
    );
    t.equal(hooks.receiver.received.filter(({ json }) => json.sequence === 3).length, tries);
    if (pauseMs === undefined) break;
    t.match(hooks.retries(webhook), [
      { sequence: 3, attempts: tries, last: { status: 500, reason: 'status' } },
    ]);
    pauses.push(pauseMs);
    hooks.house.now.ms += pauseMs;
    t.strictSame(hooks.faults(), []);
    if (pauses.reduce((sum, one) => sum + one, 0) > 4 * DAY) throw new Error('it is tried for ever');
    if (tries === 1) t.ok(pauseMs >= 4_500 && pauseMs <= 5_500);
    // It takes other events: it is not dead.
    t.equal(hooks.record(webhook).disabled, null);
    await aSuccess(hooks, webhook);
  }
  t.ok(Math.max(...pauses) <= 13.2 * HOUR && Math.max(...pauses) >= 10.8 * HOUR);
  const total = pauses.reduce((sum, one) => sum + one, 0);
  t.equal(total, 3 * DAY, 'the last attempt is made when three days are over');
  const [newest] = hooks.house.store.read(reader => outcomesOf(reader, webhook.id as WebhookId));
  t.match(newest, { sequence: 3, state: 'failed', last: { status: 500 } });
  t.match(hooks.record(webhook), { open: 0, dueAt: null, disabled: null });
});

/** Another event comes and is taken, which keeps the endpoint alive; it is not counted. */
async function aSuccess(
  hooks: Awaited<ReturnType<typeof withHooks>>,
  webhook: { id: string },
): Promise<void> {
  const { taken, received } = hooks.receiver;
  const [before, all] = [taken.length, received.length];
  await hooks.happen(1);
  // Only the new one is due.
  const { ms } = hooks.house.now;
  hooks.house.now.ms = ms - 1;
  await hooks.tell(webhook);
  hooks.house.now.ms = ms;
  t.equal(taken.length, before + 1);
  taken.length = before;
  received.splice(all, 1);
}

t.test('Retry-After is heeded: nothing is sent before', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(() => ({ status: 429, headers: { 'retry-after': '600' } }));
  await hooks.happen(1);
  t.equal(await hooks.tell(webhook), 10 * MINUTE);
  await hooks.happen(1);
  hooks.house.now.ms += 9 * MINUTE;
  t.equal(await hooks.tell(webhook), MINUTE);
  t.equal(hooks.receiver.received.length, 1, 'not even of another event');
  hooks.receiver.answers(() => 200);
  hooks.house.now.ms += MINUTE;
  t.equal(await hooks.tell(webhook), undefined);
  t.strictSame(sequencesOf(hooks.receiver.taken).sort(), [2, 3]);
});

t.test('a longer wait than 12 hours is not', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  const date = new Date(hooks.house.now.ms + 20 * DAY).toUTCString();
  hooks.receiver.answers(() => ({ status: 503, headers: { 'retry-after': date } }));
  await hooks.happen(1);
  t.equal(await hooks.tell(webhook), 12 * HOUR);
});

t.test(
  'while an endpoint takes nothing, only a few events are tried, and all are told when it is back',
  async t => {
    const hooks = await withHooks(t);
    const webhook = await hooks.make();
    await hooks.receiver.stop();
    await hooks.happen(200);
    for (let hours = 0; hours < 30; hours++) {
      hooks.house.now.ms += HOUR;
      await hooks.tell(webhook);
    }
    t.ok(hooks.retries(webhook).length <= 8);
    t.match(hooks.record(webhook), { disabled: null, last: { status: null, reason: 'unreachable' } });
    await hooks.receiver.start();
    hooks.house.now.ms += 13 * HOUR;
    t.equal(await hooks.tell(webhook), undefined, 'what waited is not left to its pause');
    t.strictSame(
      sequencesOf(hooks.receiver.taken).sort((a, b) => a - b),
      upTo(2, 201),
    );
    t.match(hooks.record(webhook), { failures: 0, failingSince: null, open: 0, place: 201 });
    t.strictSame(hooks.faults(), []);
  },
);

t.test('a clock that is set back does not leave anything waiting until it has caught up', async t => {
  const hooks = await withHooks(t);
  const webhook = await hooks.make();
  hooks.receiver.answers(() => 500);
  await hooks.happen(1);
  await hooks.tell(webhook);
  hooks.house.now.ms -= 30 * DAY;
  hooks.receiver.answers(() => 200);
  t.equal(await hooks.tell(webhook), undefined);
  t.equal(hooks.receiver.taken.length, 1);
});

t.test(
  'nor does it call one that fails without a pause, whatever it asked for by the clock before',
  async t => {
    const hooks = await withHooks(t);
    const webhook = await hooks.make();
    hooks.receiver.answers(() => ({ status: 503, headers: { 'retry-after': '43200' } }));
    await hooks.happen(1);
    t.equal(await hooks.tell(webhook), 12 * HOUR);
    hooks.house.now.ms -= 30 * DAY;
    hooks.receiver.answers(() => 500);
    const pauseMs = await tellEndpoint(hooks.deps, webhook.id as WebhookId);
    t.ok(pauseMs !== undefined && pauseMs > 0 && pauseMs <= 33_000, `a pause of ${pauseMs} ms`);
    t.equal(hooks.receiver.received.length, 2, 'it was called once more');
    t.equal(hooks.record(webhook).restUntil, null);
  },
);
