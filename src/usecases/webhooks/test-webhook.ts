import type { WebhookTest } from '../../contract/webhooks.js';
import { Refusal, refuse } from '../../domain/errors.js';
import { type EventId, newId } from '../../domain/ids.js';
import { MINUTE_MS, toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import { getWebhook, putWebhook, type retriesOf } from '../../store/records/webhooks.js';
import type { Clock, RateLimiter } from '../ports.js';
import type { Caller } from '../shared/callers.js';
import { secretsAt } from './endpoint-states.js';
import type { HookCaller } from './hook-call.js';
import { startAnew } from './settle-events.js';
import { locateWebhook } from './webhooks.js';

export interface TestWebhookDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly caller: HookCaller;
  /** Null for an admin, who is not bound. */
  readonly limiter: RateLimiter | null;
  /** Tests under way, of all accounts. */
  readonly tests: TestsUnderWay;
}

export interface TestsUnderWay {
  count: number;
}

/** Each takes a connection for ten seconds at most. */
const TESTS_PER_MINUTE = { name: 'webhook-tests', max: 6, windowMs: MINUTE_MS } as const;
/** Of all accounts at a time. */
export const MAX_TESTS = 16;
/** When whoever found no place may come again, in seconds. */
const RETRY_AFTER_S = 5;

/**
 * Sends a test event to a webhook, once (`testWebhook`). When an enabled one takes it, what waits there is tried at once.
 * @throws `not_found`, `rate_limited`, `insufficient_room` (the service stops)
 */
export async function testWebhook(
  deps: TestWebhookDeps,
  { caller: who, webhookId }: { readonly caller: Caller; readonly webhookId: string },
): Promise<WebhookTest> {
  const { store, clock, caller, tests } = deps;
  const webhook = store.read(reader => locateWebhook(reader, who, webhookId));
  await checkPace(deps, webhook.accountId);
  if (tests.count >= MAX_TESTS) throw tooMany();
  const nowMs = clock();
  const id = newId<EventId>(nowMs);
  const body = JSON.stringify({ id, type: 'webhook.test', created_at: toInstant(nowMs), summary: null });
  const secrets = secretsAt(webhook, nowMs);
  tests.count++;
  const outcome = await caller
    .call({ url: webhook.url, id, at: nowMs, secrets, body })
    .finally(() => tests.count--);
  if (outcome.kind === 'stopped') {
    throw refuse('insufficient_room', 'The service is being stopped, or sends as much as it may. Try again.');
  }
  if (outcome.kind === 'failed') return { id, status: outcome.status, reason: outcome.reason };
  if (webhook.disabled === null && webhook.failures > 0) await goOn(deps, webhook.id);
  return { id, status: outcome.status, reason: null };
}

async function goOn({ store, clock }: TestWebhookDeps, id: Parameters<typeof retriesOf>[1]): Promise<void> {
  await store.write(writer => {
    const current = getWebhook(writer, id);
    if (current === undefined || current.disabled !== null) return;
    putWebhook(writer, startAnew(writer, current, clock()));
    writer.announce(current.accountId);
  }, 'settle');
}

function tooMany(): Refusal {
  return new Refusal({
    code: 'rate_limited',
    message: `${MAX_TESTS} webhooks are being tested already. Nothing was sent; try again in a moment.`,
    retryAfterS: RETRY_AFTER_S,
  });
}

async function checkPace({ limiter }: TestWebhookDeps, key: string): Promise<void> {
  const verdict = await limiter?.take(TESTS_PER_MINUTE, key);
  if (verdict === undefined || verdict.isAllowed) return;
  throw new Refusal({
    code: 'rate_limited',
    message: `Webhooks of an account may be tested ${TESTS_PER_MINUTE.max} times a minute.`,
    retryAfterS: Math.max(1, Math.ceil(verdict.retryAfterMs / 1000)),
  });
}
