import type { AccountId } from '../../domain/ids.js';
import type { IdempotencyKey } from '../../store/records/pending.js';

/** An idempotency key, and the digest of what a retry under it must match. */
export interface RetryKey {
  readonly key: IdempotencyKey;
  readonly intent: string;
}

/**
 * By which retries of a request are known; null when it gave no key. The digest reads every text and file, so it
 * is worked out for a key only.
 */
export function retryKey(
  accountId: AccountId,
  namespace: IdempotencyKey['namespace'],
  key: string | null,
  intent: () => string,
): RetryKey | null {
  return key === null ? null : { key: { accountId, namespace, key }, intent: intent() };
}
