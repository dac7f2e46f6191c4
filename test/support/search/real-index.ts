import { rmSync } from 'node:fs';
import type { AccountId } from '../../../src/domain/ids.js';
import { searchFolder, WordThreads } from '../../../src/search/word-threads.js';
import type { Store } from '../../../src/store/engine/store.js';
import { type Clock, SILENT } from '../../../src/usecases/ports.js';
import { feedIndexes, noteLostIndex } from '../../../src/usecases/search/feed-index.js';
import type { WordFeed } from '../../../src/usecases/search/word-feed.js';
import type { WordIndex } from '../../../src/usecases/search/word-index.js';

class Killed extends Error {}

/** The index of the daemon with its threads, which takes in changes when it is told to. */
export class RealIndex implements WordIndex {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #threads: WordThreads;
  readonly #lost = new Set<Promise<unknown>>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    const deps = { store, clock, log: SILENT };
    this.#threads = new WordThreads({
      store,
      log: SILENT,
      onLost: (accountId, reason) => void this.#lost.add(noteLostIndex(deps, accountId, reason)),
    });
    this.#threads.start();
  }

  get find(): WordIndex['find'] {
    return question => this.#threads.find(question);
  }

  get rank(): WordIndex['rank'] {
    return question => this.#threads.rank(question);
  }

  /** Takes in all changes of all accounts; with a small limit, those of one round. */
  async takeIn(store: Store, _accountId: AccountId, limit = 10_000): Promise<void> {
    await Promise.all(this.#lost);
    let rounds = 0;
    const deps = { store, clock: this.#clock, log: SILENT, feed: this.#threads };
    await feedIndexes(deps, () => limit < 1_000 && rounds++ > 0);
  }

  /** Ends in the middle of a round, as a process that is killed: before the index has taken a batch in, or after it. */
  async dieAmidTakingIn(isTaken: boolean): Promise<void> {
    await Promise.all(this.#lost);
    const feed: WordFeed = {
      apply: async batch => {
        if (isTaken) await this.#threads.apply(batch);
        throw new Killed();
      },
    };
    const deps = { store: this.#store, clock: this.#clock, log: SILENT, feed };
    await feedIndexes(deps, () => false).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
  }

  /** Its file is deleted; somebody's search notices it, and it is made anew. */
  async loseAndHeal(accountId: AccountId): Promise<void> {
    this.deleteFiles();
    const terms = [{ words: ['x'], isPrefix: false }];
    await this.find({
      ...{ accountId, folderNumber: 1, terms, from: 0, to: 1 },
      ...{ isDescending: true, limit: 1 },
    });
    await this.takeIn(this.#store, accountId);
  }

  /** As an accident does it. */
  deleteFiles(): void {
    rmSync(searchFolder(this.#store.path), { recursive: true, force: true });
  }

  stop(): Promise<void> {
    return this.#threads.stop();
  }
}
