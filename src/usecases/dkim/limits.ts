import { HOUR_MS } from '../../domain/instants.js';

/** How long a message may be on its way after it was signed. */
export const MAX_QUEUED_MS = 48 * HOUR_MS;
