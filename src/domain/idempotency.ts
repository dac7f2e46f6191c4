import { createHash } from 'node:crypto';
import { PATTERNS } from '../contract/limits.js';
import { refuse } from './errors.js';
import { DAY_MS } from './instants.js';

const KEY = new RegExp(PATTERNS.idempotencyKey);

/** Protection lasts 24 hours from the first success and is not renewed. */
export const KEY_LIFETIME_MS = DAY_MS;

/**
 * The idempotency key of a request; null when it gave none.
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
 * Digest of a normalised input: equal inputs, equal digests, whatever the order of properties was. The
 * caller normalises first (trims, lowercases, replaces blank by null) and gives the parts in fixed order.
 */
export function intentDigest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
