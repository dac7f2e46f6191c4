import type { PendingPage } from '../queue/reconciler.js';
import type { Store } from '../store/engine/store.js';
import { listDue } from '../store/records/pending.js';
import type { Clock } from '../usecases/ports.js';

/** Messages that are due for one kind of work, page by page, as the reconciler asks for them. */
export function listPending(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  kind: 'parse' | 'relay',
): (limit: number, after?: Buffer) => PendingPage<Buffer> {
  return (limit, after) => {
    const due = store.read(reader => listDue(reader, kind, clock(), limit, after));
    return {
      ids: due.map(({ work }) => work.id),
      next: due.length < limit ? null : (due.at(-1)?.position ?? null),
    };
  };
}
