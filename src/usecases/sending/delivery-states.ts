import { saysNoSuchAddress } from '../../domain/delivery-reports.js';
import { HOUR_MS, MINUTE_MS } from '../../domain/instants.js';
import type { DeliveryRecord, RecipientDelivery } from '../../store/records/deliveries.js';
import type { DeliveryOutcome } from '../ports.js';

/*
 * What a delivery becomes by what happens to it: rules without input or output. `deliver.ts` applies them.
 */

/** Pauses after the first attempts, in minutes; all later ones are as long as the last. Each varies by a tenth. */
const PAUSES_MIN = [1, 5, 15, 30, 60, 120, 240] as const;
const PAUSE_VARIES_BY = 0.1;
/** No pause is longer. */
export const LONGEST_PAUSE_MS = Math.ceil(Math.max(...PAUSES_MIN) * MINUTE_MS * (1 + PAUSE_VARIES_BY));
/** Where a server asks for a slower pace, no pause is shorter. */
const SLOW_PAUSE_MIN = 15;
/** After so long the sender is told, once, that a message waits. */
const DELAY_NOTICE_MS = 4 * HOUR_MS;

export type Notice = 'ended' | 'delayed';

/**
 * Has this planned instant come? So it has when it is further ahead than any pause is long: it was planned before the
 * clock was set back, and mail does not wait until the clock has caught up.
 */
export function hasCome(plannedAt: number, nowMs: number): boolean {
  return plannedAt <= nowMs || plannedAt > nowMs + LONGEST_PAUSE_MS;
}

/**
 * The notice that the sending inbox is owed now; none about mail that is itself a notice (RFC 3464 section 2).
 * @param lapseMs up to when things may lapse (`lapseInstant`): nobody is told of a delay by a clock that may be wrong
 */
export function owedNotice(delivery: DeliveryRecord, lapseMs: number): Notice | null {
  if (delivery.from === '') return null;
  if (delivery.recipients.some(isUntold)) return 'ended';
  return lapseMs >= (delayNoticeAt(delivery) ?? Number.POSITIVE_INFINITY) ? 'delayed' : null;
}

/** When the sender is to be told that it takes long; null when nobody is to be told of that any more. */
function delayNoticeAt({ from, createdAt, toldDelay, recipients }: DeliveryRecord): number | null {
  return from === '' || toldDelay || !recipients.some(isQueued) ? null : createdAt + DELAY_NOTICE_MS;
}

/** Recipients whose end the sender has not been told of: who gets the message is not told of. */
export function isUntold({ state, isTold }: RecipientDelivery): boolean {
  return !isTold && (state === 'failed' || state === 'unknown');
}

export function isQueued({ state }: RecipientDelivery): boolean {
  return state === 'queued';
}

/**
 * Does the failure say that there is no such address, so that the account sends nothing there for a while? An inbox of
 * ours that is not there says nothing of the kind, because it may be made tomorrow: it is refused by no server.
 */
export function isNoSuchAddress({ host, code }: Pick<RecipientDelivery, 'host' | 'code'>): boolean {
  return code !== null && saysNoSuchAddress(code) && (host !== null || code !== NO_INBOX);
}

/** `relay/direct/deliver-here.ts` */
const NO_INBOX = '5.1.1';

export function isSending({ state }: RecipientDelivery): boolean {
  return state === 'sending';
}

function isOpen({ state }: RecipientDelivery): boolean {
  return state === 'queued' || state === 'sending';
}

/**
 * As it is once the owed notice was delivered.
 * @param told the delivery as the notice tells of it
 */
export function afterNotice(
  delivery: DeliveryRecord,
  notice: Notice,
  nowMs: number,
  told: DeliveryRecord,
): DeliveryRecord {
  if (notice === 'delayed') return planned({ ...delivery, toldDelay: true }, nowMs);
  const named = new Set(told.recipients.filter(isUntold).map(({ address }) => address));
  const recipients = delivery.recipients.map(one =>
    isUntold(one) && named.has(one.address) ? { ...one, isTold: true } : one,
  );
  return planned({ ...delivery, recipients }, nowMs);
}

/**
 * The recipients that the dot is about to be sent for are `sending`, also when a server has refused an earlier dot of
 * the same attempt; null when one of them has been cancelled or settled meanwhile.
 */
export function beforeDot(
  delivery: DeliveryRecord,
  addresses: readonly string[],
  nowMs: number,
): DeliveryRecord | null {
  const sending = new Set(addresses);
  const isFree = delivery.recipients.every(one => !sending.has(one.address) || isOpen(one));
  if (!isFree) return null;
  const recipients = delivery.recipients.map(
    (one): RecipientDelivery => (sending.has(one.address) ? { ...one, state: 'sending', at: nowMs } : one),
  );
  return { ...delivery, recipients };
}

export interface AttemptTimes {
  readonly nowMs: number;
  /** Up to when things may lapse (`lapseInstant`): nothing is given up by a clock that may be wrong. */
  readonly lapseMs: number;
  /** After so long what waits is given up. */
  readonly maxAgeMs: number;
}

/** As it is after an attempt. Recipients that were cancelled meanwhile and had not been sent to stay cancelled. */
export function afterAttempt(
  delivery: DeliveryRecord,
  outcomes: readonly DeliveryOutcome[],
  { nowMs, lapseMs, maxAgeMs }: AttemptTimes,
): DeliveryRecord {
  const byAddress = new Map(outcomes.map(outcome => [outcome.recipient, outcome]));
  const isUntried = outcomes.length > 0 && outcomes.every(({ retryAfterMs }) => retryAfterMs !== undefined);
  // Nothing is given up untried: after a long absence many find no free connection at first.
  const isExpired = !isUntried && lapseMs - delivery.createdAt >= maxAgeMs;
  const recipients = delivery.recipients.map(one => {
    const outcome = byAddress.get(one.address);
    if (outcome === undefined || !isOpen(one)) return one;
    const settled = recipientAfter(one, outcome, nowMs);
    return isExpired && isQueued(settled) ? expired(settled, maxAgeMs) : settled;
  });
  const restMs = Math.max(0, ...outcomes.map(({ retryAfterMs = 0 }) => retryAfterMs));
  if (isUntried) {
    // It keeps its attempts, and what it was told last; a mark for a dot that has not left goes.
    const kept = delivery.recipients.map(
      (one): RecipientDelivery =>
        one.state === 'sending' && byAddress.has(one.address) ? { ...one, state: 'queued', at: nowMs } : one,
    );
    const nextAt = Math.round(nowMs + restMs * (1 + 0.1 * Math.random()));
    return planned({ ...delivery, recipients: kept, nextAt: kept.some(isQueued) ? nextAt : null }, nowMs);
  }
  const attempts = delivery.attempts + 1;
  const pauseMs = pauseAfter(
    attempts,
    outcomes.some(({ isThrottled }) => isThrottled === true),
  );
  const leftMs = delivery.createdAt + maxAgeMs - nowMs;
  // The last attempt is made when the time is over, not some hours before. By a clock that is ahead it is over already.
  const lastMs = leftMs > 0 ? Math.max(MINUTE_MS, leftMs) : pauseMs;
  const nextAt = nowMs + Math.min(pauseMs, lastMs);
  return planned(
    { ...delivery, recipients, attempts, nextAt: recipients.some(isQueued) ? nextAt : null },
    nowMs,
  );
}

function recipientAfter(one: RecipientDelivery, outcome: DeliveryOutcome, nowMs: number): RecipientDelivery {
  const { state, host, tls, code, reply } = outcome;
  return {
    ...one,
    state: state === 'later' ? 'queued' : state,
    attempts: one.attempts + 1,
    at: nowMs,
    host,
    tls,
    code,
    reply,
  };
}

function expired(one: RecipientDelivery, maxAgeMs: number): RecipientDelivery {
  const reply = `given up after ${Math.round(maxAgeMs / HOUR_MS)} hours; last: ${one.reply ?? 'nothing'}`;
  return { ...one, state: 'failed', code: '4.4.7', reply };
}

function pauseAfter(attempts: number, isThrottled: boolean): number {
  const usual = PAUSES_MIN[Math.min(attempts, PAUSES_MIN.length) - 1] ?? PAUSES_MIN[0];
  const minutes = isThrottled ? Math.max(usual, SLOW_PAUSE_MIN) : usual;
  return Math.round(minutes * MINUTE_MS * (1 - PAUSE_VARIES_BY + 2 * PAUSE_VARIES_BY * Math.random()));
}

/** What an attempt left that ended with a dot under way: nobody knows any more whether it arrived. */
export function afterCrash(delivery: DeliveryRecord, nowMs: number): DeliveryRecord {
  const recipients = delivery.recipients.map(
    (one): RecipientDelivery =>
      one.state === 'sending'
        ? {
            ...one,
            state: 'unknown',
            at: nowMs,
            code: '4.4.2',
            reply: 'the service ended before the answer of the server came',
          }
        : one,
  );
  return planned(
    { ...delivery, recipients, nextAt: recipients.some(isQueued) ? delivery.nextAt : null },
    nowMs,
  );
}

/** In a store that was made from a backup: who was to get the message then may have got it since. */
export function afterRestore(delivery: DeliveryRecord, nowMs: number): DeliveryRecord {
  const recipients = delivery.recipients.map(
    (one): RecipientDelivery =>
      isOpen(one)
        ? {
            ...one,
            state: 'unknown',
            at: nowMs,
            code: '4.4.2',
            reply: 'the service was restored from a backup: it may have been delivered since that was made',
          }
        : one,
  );
  return planned({ ...delivery, recipients, nextAt: null }, nowMs);
}

/** Nothing that waits is tried any more; what is under way goes on. */
export function cancelled(delivery: DeliveryRecord, nowMs: number): DeliveryRecord {
  const recipients = delivery.recipients.map(
    (one): RecipientDelivery => (isQueued(one) ? { ...one, state: 'cancelled', at: nowMs } : one),
  );
  return planned({ ...delivery, recipients, nextAt: null }, nowMs);
}

/** Nobody is left to be told: nothing more is tried, and no notice is owed. */
export function abandoned(delivery: DeliveryRecord, nowMs: number): DeliveryRecord {
  const recipients = delivery.recipients.map(one => (isUntold(one) ? { ...one, isTold: true } : one));
  return cancelled({ ...delivery, recipients, toldDelay: true }, nowMs);
}

/**
 * Due for the notice that is owed, else for the next attempt or for the notice of a delay, whichever comes first: the
 * pauses between attempts grow longer than the sender is to wait for that. While a dot is under way it does not end.
 */
export function planned(delivery: DeliveryRecord, nowMs: number): DeliveryRecord {
  const { nextAt, recipients } = delivery;
  if (owedNotice(delivery, nowMs) !== null) return { ...delivery, dueAt: nowMs };
  if (nextAt === null) return { ...delivery, dueAt: recipients.some(isSending) ? nowMs : null };
  return { ...delivery, dueAt: Math.min(nextAt, delayNoticeAt(delivery) ?? nextAt) };
}
