import type { Bench } from './bench.js';
import { mailboxBench } from './mailbox/mailbox-bench.js';
import { searchBench } from './search/search-bench.js';
import { threadsBench } from './threads/threads-bench.js';

/** The benches of stored mail: lists, queries, changes. */
export const mailboxBenches: readonly Bench[] = [mailboxBench, threadsBench, searchBench];
