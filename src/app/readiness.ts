import { putMeta } from '../store/meta.js';
import { oldestDueAge } from '../store/pending.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../usecases/ports.js';

/** `/readyz` says no when accepted mail has been waiting this long to be parsed. */
const OLDEST_PENDING_MS = 5 * 60_000;
/** Anyone may ask, and an answer costs a flush to disk: it is good for this long. */
const ANSWER_MS = 1_000;

export interface ReadinessDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly isQueueReady: () => boolean;
}

/** Can the appliance do its work: store writable, Redis there, disk above its floor, parsing not behind? */
export class Readiness {
  readonly #deps: ReadinessDeps;
  #answer: Promise<boolean> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
  }

  isReady(): Promise<boolean> {
    const now = performance.now();
    if (this.#answer === null || now - this.#askedAt > ANSWER_MS) {
      this.#askedAt = now;
      this.#answer = this.#look().catch(() => false);
    }
    return this.#answer;
  }

  async #look(): Promise<boolean> {
    const { store, clock, isQueueReady } = this.#deps;
    if (!isQueueReady() || !store.room.hasRoomFor(0)) return false;
    const nowMs = clock();
    const oldest = store.read(reader => oldestDueAge(reader, 'parse', nowMs));
    if (oldest !== null && oldest > OLDEST_PENDING_MS) return false;
    // Only a commit proves that the store can be written.
    await store.write(writer => putMeta(writer, 'provedAt', nowMs));
    return true;
  }
}
