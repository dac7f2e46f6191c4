import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { answerWith } from './answer-requests.js';
import { OpenIndexes } from './open-indexes.js';
import type { FromThread, IndexSetup, ToThread } from './protocol.js';

/** The script of a thread of the search index. */

if (parentPort === null) throw new Error('index-thread.js runs as a worker thread only');
const port = parentPort;
const { directory, role, maxOpen } = workerData as IndexSetup;

try {
  // On Linux each thread has its own priority (setpriority(2)): taking mail and answering come before these two.
  if (role !== 'find') setPriority(0, 10);
} catch {
  // Not permitted: it runs at the same priority.
}

const indexes = new OpenIndexes(directory, role === 'write' ? 'write' : 'read', maxOpen);
port.on('message', (request: ToThread) => {
  if (request.kind === 'end') {
    indexes.closeAll();
    port.close();
    return;
  }
  const { answer, transfer } = answerWith(indexes, request);
  port.postMessage({ id: request.id, ...answer } satisfies FromThread, transfer);
});
port.postMessage({ kind: 'ready' } satisfies FromThread);
