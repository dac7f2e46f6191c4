import type { Bench } from './bench.js';
import { mailboxBench } from './mailbox/mailbox-bench.js';
import { threadsBench } from './threads/threads-bench.js';

/** What is done with mail that is there. */
export const mailboxBenches: readonly Bench[] = [mailboxBench, threadsBench];
