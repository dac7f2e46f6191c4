import type { Bench } from './bench.js';
import { composeBench } from './sending/compose-bench.js';
import { deliveryBench } from './sending/delivery-bench.js';
import { stepsBench } from './sending/steps-bench.js';

/** The benches of outgoing mail. */
export const outboundBenches: readonly Bench[] = [composeBench, stepsBench, deliveryBench];
