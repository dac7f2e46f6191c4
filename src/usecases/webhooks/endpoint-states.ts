import { DAY_MS, HOUR_MS } from '../../domain/instants.js';
import type { DisabledReason, StoredRetry, WebhookRecord } from '../../store/records/webhooks.js';
import type { HookOutcome } from './hook-call.js';

/*
 * What becomes of an endpoint and of the events that it has not taken: rules without input or output. `tell-endpoint.ts`
 * applies them.
 */

/** Pauses after the first attempts with an event, in seconds; later ones are as long as the last. Each varies by a tenth. */
const PAUSES_S = [5, 30, 120, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600] as const;
const PAUSE_VARIES_BY = 0.1;
/** No pause is longer, whatever an endpoint asks for. */
const LONGEST_PAUSE_MS = 12 * HOUR_MS;
/** For so long an event is tried, and an endpoint that takes nothing is not disabled. */
export const GIVE_UP_MS = 3 * DAY_MS;
/** Events in flight for one endpoint. */
export const MAX_IN_FLIGHT = 8;
/**
 * Events that an endpoint may have waiting to be tried again before no further ones are started. While it takes nothing
 * at all, a few are enough to find out when it does: the others stay in the feed.
 */
const MAX_OPEN = 256;
const MAX_OPEN_FAILING = 8;
/** How long a secret that was replaced still signs. */
export const SECRET_OVERLAP_MS = DAY_MS;

/** May a further event be started, with so many others that may come to wait? */
export function mayStart({ failures }: Pick<WebhookRecord, 'failures'>, open: number): boolean {
  return open < (failures > 0 ? MAX_OPEN_FAILING : MAX_OPEN);
}

/** Has this planned instant come? So it has when no pause is that long: it was planned by a clock that was ahead. */
export function hasCome(plannedAt: number, nowMs: number): boolean {
  return plannedAt <= nowMs || plannedAt > nowMs + LONGEST_PAUSE_MS * (1 + PAUSE_VARIES_BY);
}

/**
 * In how many milliseconds there is something to do for an endpoint; null when only a new event makes any.
 * @param last sequence of the newest event of the account
 */
export function waitOf(webhook: WebhookRecord, last: number, nowMs: number): number | null {
  const { disabled, gap, place, open, dueAt, restUntil } = webhook;
  if (disabled !== null) return null;
  const isBehind = place < last && mayStart(webhook, open);
  const times =
    gap !== null ? [gap.nextAt] : [...(isBehind ? [nowMs] : []), ...(dueAt === null ? [] : [dueAt])];
  if (times.length === 0) return null;
  const soonest = Math.min(...times.map(at => (hasCome(at, nowMs) ? nowMs : at)));
  const restMs = restUntil === null || hasCome(restUntil, nowMs) ? 0 : restUntil - nowMs;
  return Math.max(soonest - nowMs, restMs);
}

/** Does the endpoint ask not to be called now? */
export function isResting({ restUntil }: Pick<WebhookRecord, 'restUntil'>, nowMs: number): boolean {
  return restUntil !== null && !hasCome(restUntil, nowMs);
}

export type Attempted = Exclude<HookOutcome, { kind: 'stopped' }>;

/** The endpoint after an attempt with any event, apart from the places of events. */
export function afterAttempt(webhook: WebhookRecord, outcome: Attempted, nowMs: number): WebhookRecord {
  const { failingSince, failures } = webhook;
  // By a clock that was ahead it may have been asked for a time that is no pause any more.
  const restUntil = isResting(webhook, nowMs) ? webhook.restUntil : null;
  if (outcome.kind === 'taken') {
    const last = { at: nowMs, status: outcome.status, reason: null };
    return { ...webhook, failingSince: null, failures: 0, last, restUntil };
  }
  const { status, reason, retryAfterMs } = outcome;
  return {
    ...webhook,
    // By a clock that was set back, it cannot fail since a time to come.
    failingSince: Math.min(failingSince ?? nowMs, nowMs),
    failures: failures + 1,
    last: { at: nowMs, status, reason },
    restUntil: retryAfterMs === null ? restUntil : nowMs + Math.min(retryAfterMs, LONGEST_PAUSE_MS),
  };
}

/** When an event that was tried so often is tried again; null when its time is over. */
export function nextTry(
  { firstAt, attempts }: Pick<StoredRetry, 'firstAt' | 'attempts'>,
  { nowMs, lapseMs }: Times,
): number | null {
  const leftMs = Math.min(firstAt, nowMs) + GIVE_UP_MS - nowMs;
  // Nothing is given up by a clock that may be wrong.
  if (lapseMs >= firstAt + GIVE_UP_MS) return null;
  const pauseMs = pauseAfter(attempts);
  return nowMs + (leftMs > 0 ? Math.min(pauseMs, leftMs) : pauseMs);
}

export interface Times {
  readonly nowMs: number;
  /** Up to when things may lapse (`lapseInstant`). */
  readonly lapseMs: number;
}

export function pauseAfter(attempts: number): number {
  const seconds = PAUSES_S[Math.min(attempts, PAUSES_S.length) - 1] ?? PAUSES_S[0];
  return Math.round(seconds * 1000 * (1 - PAUSE_VARIES_BY + 2 * PAUSE_VARIES_BY * Math.random()));
}

/** Is the endpoint to be disabled after this attempt, and why? */
export function disabledAfter(
  { failingSince }: Pick<WebhookRecord, 'failingSince'>,
  outcome: Attempted,
  { lapseMs }: Times,
): Exclude<DisabledReason, 'requested'> | null {
  if (outcome.kind === 'taken') return null;
  if (outcome.reason === 'gone') return 'gone';
  return failingSince !== null && lapseMs >= failingSince + GIVE_UP_MS ? 'dead' : null;
}

/**
 * Does a success end an outage, so that all that waits is tried at once? Not when only the events that wait have failed:
 * they may never be taken, and would be tried again and again.
 */
export function endsOutage({ failures, open }: Pick<WebhookRecord, 'failures' | 'open'>): boolean {
  return failures > open && open > 0;
}

/** The secrets that sign now, the newest first. */
export function secretsAt({ secrets }: Pick<WebhookRecord, 'secrets'>, nowMs: number): string[] {
  return secrets.filter(({ until }) => until === null || until > nowMs).map(({ secret }) => secret);
}
