/**
 * What the header field Retry-After asks for, seconds or a date (RFC 9110 section 10.2.3).
 * @returns milliseconds from `nowMs` on; null when it says nothing of use
 */
export function readRetryAfter(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const given = text.trim();
  if (/^\d{1,9}$/.test(given)) return Number(given) * 1000;
  // A date begins with the name of its day; `Date.parse` would read much else.
  const at = /^[A-Z][a-z]{2}/.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
