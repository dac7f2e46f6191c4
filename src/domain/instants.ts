export const MINUTE_MS = 60 * 1000;
export const HOUR_MS = 60 * MINUTE_MS;
/** 24 hours in milliseconds: the lifetime of idempotency keys, the window of the quota. */
export const DAY_MS = 24 * HOUR_MS;

/** An instant as the API writes it: ISO 8601 in UTC with milliseconds and `Z`. */
export function toInstant(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, -4);
    lastSecond = second;
  }
  return `${lastText}${String(Math.floor(ms) - second * 1000).padStart(3, '0')}Z`;
}

/** Most of what is written in a second is of that second. */
let lastSecond = Number.NaN;
let lastText = '';

/** A date as header fields have it (RFC 5322 section 3.3), in UTC. */
export function toMailDate(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000');
}
