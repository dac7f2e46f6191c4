import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { defaultParseLimits } from '../mail/read/limits.js';
import { parseMessage } from '../mail/read/parse-message.js';
import type { ThreadSetup } from './parse-protocol.js';
import { serveParses } from './parse-thread-server.js';

/** The script of a parser thread. */

try {
  // On Linux each thread has its own priority, and 0 means the calling thread (setpriority(2)). Accepting mail and
  // serving the API, on the main thread, come first.
  setPriority(0, 10);
} catch {
  // Not permitted: parsing runs at the same priority.
}

if (parentPort === null) throw new Error('parse-thread.js runs as a worker thread only');
const setup = workerData as ThreadSetup;
const textBytes = Math.min(defaultParseLimits.textBytes, setup.maxTextBytes);
const limits = { ...defaultParseLimits, textBytes };
serveParses(parentPort, source => parseMessage(source, limits), setup);
