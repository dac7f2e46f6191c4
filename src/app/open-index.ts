import type { OpenIndex } from '../cli/dependencies.js';
import { IndexReader } from '../search/index-reader.js';
import type { Store } from '../store/engine/store.js';
import { SILENT } from '../usecases/ports.js';
import { noteLostIndex } from '../usecases/search/feed-index.js';

/** For commands that search: what they find to be unusable the daemon makes anew, now or when it is started. */
export async function openIndex(store: Store): Promise<OpenIndex> {
  const deps = { store, clock: Date.now, log: SILENT };
  return new IndexReader({
    store,
    onLost: (accountId, reason) => noteLostIndex(deps, accountId, reason),
  });
}
