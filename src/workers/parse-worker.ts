import type { MessageId } from '../domain/ids.js';
import { type IndexDeps, indexMessage } from '../usecases/index-message.js';
import type { WorkQueue } from '../usecases/ports.js';

/**
 * What a parse job does: an id comes in, the use case does the work. A message that is to be tried again
 * is offered when it is due; should the process end before, the reconciler offers it.
 */
export function createParseWorker(deps: IndexDeps, queue: WorkQueue): (id: MessageId) => Promise<void> {
  return async id => {
    const outcome = await indexMessage(deps, id);
    if (outcome.status === 'done') return;
    const delayMs = Math.max(0, outcome.dueAt - deps.clock());
    setTimeout(() => queue.offer([id]), delayMs).unref();
  };
}
