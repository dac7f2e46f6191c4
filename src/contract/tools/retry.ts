import type { ErrorCode } from '../errors.js';

/** Errors after which the same call may succeed later. */
const HELPS: readonly ErrorCode[] = [
  'request_timeout',
  'rate_limited',
  'outbound_limit_reached',
  'reply_not_ready',
  'draft_busy',
  'insufficient_room',
  'content_unavailable',
];

/** Errors after which something may have been done: the same call is safe only with an idempotency key. */
const HELPS_WITH_KEY: readonly ErrorCode[] = ['internal_error', 'outbound_unavailable', 'draft_unavailable'];

/**
 * Whether trying the same call again can help.
 * @param isSafe whether a repeat does nothing twice: it only reads, or has an idempotency key
 */
export function isRetryable(code: ErrorCode, isSafe: boolean): boolean {
  return HELPS.includes(code) || (isSafe && HELPS_WITH_KEY.includes(code));
}
