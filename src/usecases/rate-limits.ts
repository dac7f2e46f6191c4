import type { RateLimit } from './ports.js';

const MINUTE_MS = 60_000;

/** Limits of the way to access (specification, Limits); addresses are IPv4 addresses or IPv6 /64 networks. */
export const RATE_LIMITS = {
  /** `POST /v1/signups`, by client address. */
  signups: { name: 'signups', max: 10, windowMs: 60 * MINUTE_MS },
  /** `POST /v1/claims`, by client address. */
  claims: { name: 'claims', max: 10, windowMs: 15 * MINUTE_MS },
  /**
   * What a human's browser does on the way to an approval, by client address: it asks for a link, opens one, signs
   * in, approves. Pages that only say something do not count, so a whole journey is three, and three fit.
   */
  approvals: { name: 'approvals', max: 10, windowMs: 15 * MINUTE_MS },
  /** Links asked for, by email address, whether or not it is eligible: a limit for some only would tell. */
  links: { name: 'links', max: 3, windowMs: 60 * MINUTE_MS },
  /** Lines of the trail that strangers can cause, in all: it must not be filled with their noise. */
  refusals: { name: 'refusals', max: 1_000, windowMs: 24 * 60 * MINUTE_MS },
} as const satisfies Record<string, RateLimit>;
