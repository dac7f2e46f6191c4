import type { Writer } from '../../store/engine/tables.js';
import type { StoredEvent } from '../../store/records/events.js';
import { addPending, type WebhookNews } from '../../store/records/pending.js';
import {
  type Gap,
  noteOutcome,
  putRetry,
  putWebhook,
  removeRetry,
  retriesOf,
  type StoredRetry,
  type WebhookRecord,
} from '../../store/records/webhooks.js';
import {
  type Attempted,
  afterAttempt,
  disabledAfter,
  endsOutage,
  nextTry,
  pauseAfter,
  type Times,
} from './endpoint-states.js';

/** What an endpoint can be told: an event of the feed, or that some are missing. */
export type Item =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  | { readonly kind: 'gap'; readonly gap: Gap };

/** Of the event, or of the last one that is missing. */
export function sequenceOf(item: Item): number {
  return item.kind === 'gap' ? item.gap.to : item.event.sequence;
}

/** An attempt that has ended, and what was known of the event before. */
export interface Settled {
  readonly item: Item;
  readonly outcome: Attempted;
  /** Null at the first attempt, and of a gap. */
  readonly retry: StoredRetry | null;
}

/**
 * Writes what became of events at an endpoint, which is a new version of it.
 * @param retries what is to be tried again, which is kept in step
 */
export function settle(
  writer: Writer,
  webhook: WebhookRecord,
  retries: Map<number, StoredRetry>,
  settled: readonly Settled[],
  times: Times,
): WebhookRecord {
  let current = webhook;
  for (const one of settled) {
    const endsIt = one.outcome.kind === 'taken' && endsOutage({ ...current, open: retries.size });
    const tried = afterAttempt(current, one.outcome, times.nowMs);
    current =
      one.item.kind === 'gap'
        ? settleGap(writer, tried, one, times)
        : settleEvent(writer, tried, retries, one, times);
    if (endsIt) hasten(writer, current, retries, times.nowMs);
    const reason = current.disabled === null ? disabledAfter(current, one.outcome, times) : null;
    if (reason !== null) {
      current = { ...current, disabled: { reason, at: times.nowMs } };
      planMail(writer, current, reason, times.nowMs);
    }
  }
  const after = {
    ...current,
    secrets: current.secrets.filter(({ until }) => until === null || until > times.nowMs),
    open: retries.size,
    dueAt: dueAtOf(retries),
  };
  putWebhook(writer, after);
  return after;
}

/** When the first of what is to be tried again is due. */
export function dueAtOf(retries: ReadonlyMap<number, StoredRetry>): number | null {
  return retries.size === 0 ? null : Math.min(...[...retries.values()].map(({ nextAt }) => nextAt));
}

const NEWS: readonly WebhookNews[] = ['made', 'url', 'gone', 'dead'];

/** A human is told of a webhook by mail, soon. */
export function planMail(
  writer: Writer,
  { id, accountId, url }: WebhookRecord,
  what: WebhookNews,
  nowMs: number,
): void {
  // News of one instant are told apart by their due time.
  addPending(writer, nowMs + NEWS.indexOf(what), {
    kind: 'webhook-mail',
    id,
    accountId,
    url,
    what,
    tries: 0,
  });
}

function settleGap(
  writer: Writer,
  webhook: WebhookRecord,
  { outcome }: Settled,
  { nowMs }: Times,
): WebhookRecord {
  const { gap, last } = webhook;
  if (gap === null || last === null) return webhook;
  const attempts = gap.attempts + 1;
  // It is never given up: the endpoint itself is, when it takes nothing for days.
  if (outcome.kind === 'failed') {
    return { ...webhook, gap: { ...gap, attempts, nextAt: nowMs + pauseAfter(attempts) } };
  }
  const { id: eventId, to: sequence, at: firstAt } = gap;
  return noteOutcome(
    writer,
    { ...webhook, gap: null },
    { eventId, sequence, type: 'feed.gap', state: 'delivered', firstAt, attempts, last },
  );
}

function settleEvent(
  writer: Writer,
  webhook: WebhookRecord,
  retries: Map<number, StoredRetry>,
  { item, outcome, retry }: Settled,
  times: Times,
): WebhookRecord {
  const { last, id } = webhook;
  if (item.kind !== 'event' || last === null) return webhook;
  const { sequence, id: eventId, type } = item.event;
  const attempts = (retry?.attempts ?? 0) + 1;
  const firstAt = retry?.firstAt ?? times.nowMs;
  if (outcome.kind === 'failed') {
    const next = nextTry({ firstAt, attempts }, times);
    // Of a dead endpoint nothing is given up: it may be enabled again.
    const isDead = disabledAfter(webhook, outcome, times) !== null;
    if (next !== null || isDead) {
      const nextAt = Math.max(next ?? times.nowMs, webhook.restUntil ?? 0);
      const record: StoredRetry = { sequence, eventId, type, firstAt, attempts, nextAt, last };
      retries.set(sequence, record);
      putRetry(writer, id, record);
      return webhook;
    }
  }
  if (retries.delete(sequence)) removeRetry(writer, id, sequence);
  const state = outcome.kind === 'taken' ? 'delivered' : 'failed';
  return noteOutcome(writer, webhook, { eventId, sequence, type, state, firstAt, attempts, last });
}

/** What waits is tried at once. */
export function hasten(
  writer: Writer,
  { id }: Pick<WebhookRecord, 'id'>,
  retries: Map<number, StoredRetry>,
  nowMs: number,
): void {
  for (const retry of retries.values()) {
    if (retry.nextAt <= nowMs) continue;
    const due = { ...retry, nextAt: nowMs };
    retries.set(retry.sequence, due);
    putRetry(writer, id, due);
  }
}

/**
 * Enabled, with what waits due at once and its time begun anew: after days of absence nothing is given up before it was
 * tried. Whoever is at work for the webhook leaves its places alone from then on.
 */
export function startAnew(writer: Writer, webhook: WebhookRecord, nowMs: number): WebhookRecord {
  const { id, gap, revision } = webhook;
  for (const retry of retriesOf(writer, id)) {
    putRetry(writer, id, { ...retry, firstAt: nowMs, attempts: 0, nextAt: nowMs });
  }
  return {
    ...webhook,
    revision: revision + 1,
    disabled: null,
    gap: gap === null ? null : { ...gap, attempts: 0, nextAt: nowMs },
    dueAt: webhook.open === 0 ? null : nowMs,
    restUntil: null,
    failingSince: null,
    failures: 0,
  };
}
