import type { Bench } from './bench.js';
import { acceptBench } from './inbound/accept-bench.js';
import { authorsBench } from './inbound/authors-bench.js';
import { churnBench } from './inbound/churn-bench.js';
import { idleBench } from './inbound/idle-bench.js';
import { largeBench } from './inbound/large-bench.js';
import { latencyBench } from './inbound/latency-bench.js';
import { parseBench } from './inbound/parse-bench.js';
import { poisonBench } from './inbound/poison-bench.js';
import { unparsedBench } from './inbound/unparsed-bench.js';
import { uploadsBench } from './inbound/uploads-bench.js';
import { visibleBench } from './inbound/visible-bench.js';
import { httpBench } from './mailbox/http-bench.js';
import { sendBench } from './sending/send-bench.js';

/** The benches of mail from acceptance to the agent that reads it and sends. */
export const inboundBenches: readonly Bench[] = [
  acceptBench,
  unparsedBench,
  visibleBench,
  authorsBench,
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
