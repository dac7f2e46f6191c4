import { DAY_MS } from '../domain/instants.js';

const MINUTE_MS = 60_000;

/** How long a mailed link may be opened (specification, Limits). */
export const LINK_LIFETIME_MS = DAY_MS / 2;
/** How long a phrase may be redeemed (specification, Limits). */
export const PHRASE_LIFETIME_MS = DAY_MS / 4;
/** Whoever presses Approve must have opened the link, or signed in, within this time (decisions, Signup). */
export const PRESS_WINDOW_MS = 15 * MINUTE_MS;
