import type { AccountRecord } from '../store/accounts.js';
import { countInboxes } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';

/** What an account gets where nothing else is set for it. */
export interface DefaultLimits {
  readonly inboxes: number;
  readonly sends: number;
}

/** A snapshot, not a reservation (wire contract, `InboxAllowance`). */
export interface InboxAllowance {
  readonly allowance: number;
  readonly used: number;
  readonly remaining: number;
  readonly unit: 'inbox_slots';
}

export function inboxAllowance(
  reader: Reader,
  account: AccountRecord,
  limits: DefaultLimits,
): InboxAllowance {
  const allowance = account.inboxLimit ?? limits.inboxes;
  const used = countInboxes(reader, account.id);
  return { allowance, used, remaining: Math.max(0, allowance - used), unit: 'inbox_slots' };
}
