import type { Bench } from './bench.js';
import { composeBench } from './sending/compose-bench.js';

/** The way of mail out. */
export const outboundBenches: readonly Bench[] = [composeBench];
