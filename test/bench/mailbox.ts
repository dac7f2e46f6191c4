import type { Bench } from './bench.js';
import { eventsBench } from './events/events-bench.js';
import { mailboxBench } from './mailbox/mailbox-bench.js';
import { threadsBench } from './threads/threads-bench.js';

/** The benches of stored mail: lists, queries, changes, events. */
export const mailboxBenches: readonly Bench[] = [mailboxBench, threadsBench, eventsBench];
