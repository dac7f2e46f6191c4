import type { AccountId } from '../domain/ids.js';
import { reasonOf } from '../lib/async.js';
import { WordThreads } from '../search/word-threads.js';
import type { Store } from '../store/engine/store.js';
import type { Clock, Logger } from '../usecases/ports.js';
import { feedIndexes, noteLostIndex } from '../usecases/search/feed-index.js';
import { recoverIndexes } from '../usecases/search/recover-indexes.js';
import type { WordIndex } from '../usecases/search/word-index.js';
import { Sweeper } from '../workers/background.js';

/** How soon words of new mail are in the index; until then a search looks through them directly. */
const FEED_INTERVAL_MS = 250;

/** The search index: its threads, and what keeps them up to date with the store. Nothing else waits for it. */
export class Searching {
  readonly #deps: { readonly store: Store; readonly clock: Clock; readonly log: Logger };
  readonly #threads: WordThreads;
  readonly #feeder: Sweeper;

  constructor(deps: { readonly store: Store; readonly clock: Clock; readonly log: Logger }) {
    const { store, clock, log } = deps;
    this.#deps = deps;
    this.#threads = new WordThreads({
      store,
      log,
      onLost: (accountId, reason) => this.#noteLost(accountId, reason),
    });
    this.#feeder = new Sweeper({
      run: shouldStop => feedIndexes({ store, clock, log, feed: this.#threads }, shouldStop),
      intervalMs: FEED_INTERVAL_MS,
      log,
    });
  }

  get index(): WordIndex {
    return this.#threads;
  }

  async start(): Promise<void> {
    const count = await recoverIndexes(this.#deps);
    if (count > 0) this.#deps.log.info({ accounts: count }, 'search indexes are made anew by new rules');
    this.#threads.start();
    this.#feeder.start();
  }

  async stop(): Promise<void> {
    await this.#feeder.stop();
    await this.#threads.stop();
  }

  #noteLost(accountId: AccountId, reason: string): void {
    noteLostIndex(this.#deps, accountId, reason).catch((error: unknown) =>
      this.#deps.log.warn(
        { account_id: accountId, reason: reasonOf(error) },
        'a lost search index was not noted',
      ),
    );
  }
}
