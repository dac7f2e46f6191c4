import type { Quota } from '../../contract/sending.js';
import { Refusal } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import {
  expiryOf,
  type QuotaState,
  type QuotaTexts,
  sufficientCapacityAt,
  viewQuota,
} from '../../domain/quota.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { type AccountRecord, getAccount } from '../../store/records/accounts.js';
import { activeCharges, usedAllowance } from '../../store/records/charges.js';
import type { DefaultLimits } from '../accounts/accounts.js';
import type { Clock } from '../ports.js';

export interface QuotaDeps {
  readonly limits: DefaultLimits;
  /** Told to whoever has used up the allowance. */
  readonly texts: QuotaTexts;
}

/** The sending allowance of an account (`getOutboundQuota`). */
export function getQuota(
  deps: QuotaDeps & { readonly store: Store; readonly clock: Clock },
  account: AccountRecord,
): Quota {
  return deps.store.read(reader => {
    // As it is in this snapshot: an allowance that was changed applies at once.
    const current = getAccount(reader, account.id) ?? account;
    return viewQuota(quotaState(reader, current, deps.limits, deps.clock()), deps.texts);
  });
}

function quotaState(
  reader: Reader,
  account: AccountRecord,
  limits: DefaultLimits,
  nowMs: number,
): QuotaState {
  return {
    allowance: account.sendLimit ?? limits.sends,
    used: usedAllowance(reader, account.id, nowMs),
    next: nextCapacity(reader, account, nowMs),
  };
}

/** What expires first: everything that was charged in the same millisecond expires together. */
function nextCapacity(reader: Reader, account: AccountRecord, nowMs: number): QuotaState['next'] {
  let oldest: number | null = null;
  let amount = 0;
  for (const charge of activeCharges(reader, account.id, nowMs)) {
    if (oldest !== null && charge.at !== oldest) break;
    oldest = charge.at;
    amount += charge.amount;
  }
  return oldest === null ? null : { at: expiryOf(oldest), amount };
}

/**
 * Refuses unless the allowance covers `amount` more recipients now. The refusal carries the further members of
 * `QuotaError` (src/contract): how much is left and when more will be.
 */
export function checkQuota(
  reader: Reader,
  deps: QuotaDeps,
  accountId: AccountId,
  amount: number,
  nowMs: number,
): void {
  const account = getAccount(reader, accountId);
  // Ownership was checked in this snapshot.
  if (account === undefined) throw new Error(`account ${accountId} of an inbox is missing`);
  const allowance = account.sendLimit ?? deps.limits.sends;
  if (usedAllowance(reader, account.id, nowMs) + amount <= allowance) return;
  const state = quotaState(reader, account, deps.limits, nowMs);
  const sufficientAt = sufficientCapacityAt(activeCharges(reader, account.id, nowMs), state, amount);
  const quota = viewQuota(state, deps.texts);
  const isTooLarge = sufficientAt === null;
  throw new Refusal({
    code: 'outbound_limit_reached',
    message: isTooLarge
      ? `The message has ${amount} recipients, more than the allowance of ${state.allowance} in 24 hours.`
      : `The message has ${amount} recipients, ${quota.remaining} of ${state.allowance} in 24 hours are left.`,
    beside: {
      quota,
      requested_recipients: amount,
      reason: isTooLarge ? 'message_exceeds_allowance' : 'temporary_exhaustion',
      sufficient_capacity_at: sufficientAt === null ? null : toInstant(sufficientAt),
      guidance: isTooLarge
        ? `Waiting does not help. Send to fewer recipients at a time, or ask for a larger allowance: ${deps.texts.increaseRequest}`
        : `Nothing was sent or charged. Send again after sufficient_capacity_at, or ask for a larger allowance: ${deps.texts.increaseRequest}`,
    },
    ...(sufficientAt === null ? {} : { retryAfterS: Math.max(1, Math.ceil((sufficientAt - nowMs) / 1000)) }),
  });
}
