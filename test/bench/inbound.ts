import { acceptBench } from './accept-bench.js';
import type { Bench } from './bench.js';
import { churnBench } from './churn-bench.js';
import { httpBench } from './http-bench.js';
import { idleBench } from './idle-bench.js';
import { largeBench } from './large-bench.js';
import { latencyBench } from './latency-bench.js';
import { parseBench } from './parse-bench.js';
import { poisonBench } from './poison-bench.js';
import { sendBench } from './send-bench.js';
import { unparsedBench } from './unparsed-bench.js';
import { uploadsBench } from './uploads-bench.js';
import { visibleBench } from './visible-bench.js';

/** The way of mail into the appliance, to the agent that reads it, and out again. */
export const inboundBenches: readonly Bench[] = [
  acceptBench,
  unparsedBench,
  visibleBench,
  uploadsBench,
  latencyBench,
  parseBench,
  largeBench,
  poisonBench,
  httpBench,
  sendBench,
  churnBench,
  idleBench,
];
