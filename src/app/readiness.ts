import { putMeta } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import { oldestDueAge } from '../store/records/pending.js';
import type { Clock } from '../usecases/ports.js';

/** `/readyz` says no when accepted mail has been waiting this long to be parsed. */
const OLDEST_PENDING_MS = 5 * 60_000;
/** Anyone may ask, and a proof costs a flush to disk: one is good for this long. */
const PROOF_MS = 1_000;

export interface ReadinessDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly isQueueReady: () => boolean;
}

/**
 * Can the appliance do its work: store writable, Redis there, disk above its floor, parsing not behind? Sends that
 * wait are not asked for: what they wait for is mostly a smarthost, and taking the box out of service because of it
 * would keep mail from coming in. `postern status` tells of them.
 */
export class Readiness {
  readonly #deps: ReadinessDeps;
  #proof: Promise<void> | null = null;
  #provedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
  }

  async isReady(): Promise<boolean> {
    const { store, clock, isQueueReady } = this.#deps;
    if (!isQueueReady() || !store.room.hasRoomFor(0)) return false;
    const oldest = store.read(reader => oldestDueAge(reader, 'parse', clock()));
    if (oldest !== null && oldest > OLDEST_PENDING_MS) return false;
    return this.#isWritable().catch(() => false);
  }

  /** Only a commit proves that the store can be written. */
  async #isWritable(): Promise<true> {
    const now = performance.now();
    if (this.#proof === null || now - this.#provedAt > PROOF_MS) {
      const { store, clock } = this.#deps;
      this.#provedAt = now;
      this.#proof = store.write(writer => putMeta(writer, 'provedAt', clock()));
    }
    await this.#proof;
    return true;
  }
}
