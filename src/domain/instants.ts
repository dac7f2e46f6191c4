/** Milliseconds of a day: protection of idempotency keys, quota window. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** A service instant: UTC, milliseconds, `Z` (specification, general rule 6). */
export function toInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** A date as header fields have it (RFC 5322 section 3.3), in UTC. */
export function toMailDate(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000');
}
