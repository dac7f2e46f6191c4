import type { Config } from '../../config/load-config.js';
import { HOUR_MS } from '../../domain/instants.js';

/** How long a message may be queued here after it was signed, in milliseconds (`DkimDeps.maxQueuedMs`). */
export function maxQueuedMs({ relay }: Pick<Config, 'relay'>): number {
  return relay.direct.maxAgeH * HOUR_MS;
}
