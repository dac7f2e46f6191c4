import type { Bench } from './bench.js';
import { eventsBench } from './events/events-bench.js';
import { mailboxBench } from './mailbox/mailbox-bench.js';
import { searchBench } from './search/search-bench.js';
import { threadsBench } from './threads/threads-bench.js';

/** The benches of stored mail: lists, searches, changes, events. */
export const mailboxBenches: readonly Bench[] = [mailboxBench, threadsBench, searchBench, eventsBench];
