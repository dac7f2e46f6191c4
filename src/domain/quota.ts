import type { Quota } from '../contract/sending.js';
import { DAY_MS, toInstant } from './instants.js';

/** A submission that counts against an allowance. */
export interface Charge {
  /** Instant of the reservation, in milliseconds. */
  readonly at: number;
  /** Recipients, every entry of To, Cc and Bcc. */
  readonly amount: number;
}

/** A charge made at `at` counts up to but not including this instant. */
export function expiryOf(at: number): number {
  return at + DAY_MS;
}

/** Charges made after this instant count at `nowMs`. */
export function windowStart(nowMs: number): number {
  return nowMs - DAY_MS;
}

/** Sending allowance of an account as it is now (specification, Quota). */
export interface QuotaState {
  readonly allowance: number;
  readonly used: number;
  /** Expiry of the oldest charge and what it frees; null when nothing is charged. */
  readonly next: { readonly at: number; readonly amount: number } | null;
}

export interface QuotaTexts {
  readonly increaseRequest: string;
  readonly policyUrl: string;
}

export function viewQuota(state: QuotaState, texts: QuotaTexts): Quota {
  return {
    allowance: state.allowance,
    used: state.used,
    remaining: Math.max(0, state.allowance - state.used),
    next_capacity_at: state.next === null ? null : toInstant(state.next.at),
    next_capacity_amount: state.next?.amount ?? 0,
    window_hours: 24,
    unit: 'recipient_deliveries',
    increase_request: texts.increaseRequest,
    policy_url: texts.policyUrl,
  };
}

/**
 * When enough charges will have expired for `amount` more: the expiry of the charge with which what is freed
 * reaches what is missing. Null when waiting does not help.
 * @param charges those that count now, oldest first; those that are needed are enough
 */
export function sufficientCapacityAt(
  charges: Iterable<Charge>,
  state: Pick<QuotaState, 'allowance' | 'used'>,
  amount: number,
): number | null {
  if (amount > state.allowance) return null;
  let missing = state.used + amount - state.allowance;
  let last: number | null = null;
  for (const charge of charges) {
    if (missing <= 0) break;
    missing -= charge.amount;
    last = expiryOf(charge.at);
  }
  return last;
}
