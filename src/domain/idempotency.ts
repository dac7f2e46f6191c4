import { createHash } from 'node:crypto';
import { PATTERNS } from '../contract/limits.js';
import { refuse } from './errors.js';
import { DAY_MS } from './instants.js';

const KEY = new RegExp(PATTERNS.idempotencyKey);

/** How long a key is remembered after the first success, in milliseconds. A repetition does not prolong it. */
export const KEY_LIFETIME_MS = DAY_MS;

/**
 * The idempotency key of a request; null when it has none.
 * @throws `invalid_idempotency_key`
 */
export function checkIdempotencyKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  if (KEY.test(key)) return key;
  throw refuse(
    'invalid_idempotency_key',
    'idempotency_key must be 1 to 128 letters, digits, hyphens and underscores.',
  );
}

/**
 * SHA-256 of a request, base64url: equal requests have equal digests.
 * @param parts the normalised values (trimmed, in lower case, null for blank), in a fixed order
 */
export function intentDigest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
