import type { Quota } from '../contract/sending.js';
import { DAY_MS, toInstant } from './instants.js';

/** What one submission takes from the quota of an account. */
export interface Charge {
  /** When it was reserved, in milliseconds since the epoch. */
  readonly at: number;
  /** Number of recipients: every entry of To, Cc and Bcc counts. */
  readonly amount: number;
}

/** When a charge made at `at` stops counting: it counts before this time, and no longer at it. In milliseconds. */
export function expiryOf(at: number): number {
  return at + DAY_MS;
}

/** Charges made after this time count at `nowMs`. In milliseconds. */
export function windowStart(nowMs: number): number {
  return nowMs - DAY_MS;
}

/** The sending quota of an account at one moment, in recipients (`getOutboundQuota`). */
export interface QuotaState {
  readonly allowance: number;
  readonly used: number;
  /** When the oldest charge expires, in milliseconds, and how many recipients that frees; null without any charge. */
  readonly next: { readonly at: number; readonly amount: number } | null;
}

/** What the configuration adds to every quota. */
export interface QuotaTexts {
  readonly increaseRequest: string;
  readonly policyUrl: string;
}

/** The quota as the API shows it. */
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
 * When enough charges will have expired to send to `amount` more recipients.
 * @param charges those that count now, oldest first; only as many are read as are needed
 * @returns milliseconds since the epoch; null when there is room now, or when `amount` is over the whole allowance
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
