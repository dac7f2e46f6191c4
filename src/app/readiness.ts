import { putMeta } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import { oldestDueAge } from '../store/records/pending.js';
import type { Clock } from '../usecases/ports.js';

/** Not ready when accepted mail has waited longer than this to be parsed, and parsing has stood still as long. */
const OLDEST_PENDING_MS = 5 * 60_000;
/** How long a proof that the store is writable is used again: it costs a flush to disk, and anyone may ask. */
const PROOF_MS = 1_000;

export interface ReadinessDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly isQueueReady: () => boolean;
  /** For how long parsing has ended no message although some wait, in milliseconds. */
  readonly parsingStalledMs: () => number;
}

/**
 * Answers `/readyz`: is the store writable, Redis connected, the disk above its floor, and parsing not stuck? A backlog
 * that is worked off is no reason: new mail is taken and does not wait for all of it (`src/workers/parse-pool.ts`).
 * Waiting sends do not count: they mostly wait for a smarthost, and taking the appliance out of service for that would
 * stop incoming mail. `postern status` shows them.
 */
export class Readiness {
  readonly #deps: ReadinessDeps;
  #proof: Promise<void> | null = null;
  #provedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
  }

  async isReady(): Promise<boolean> {
    const { store, isQueueReady } = this.#deps;
    if (!isQueueReady() || !store.room.hasRoomFor(0) || this.#isParsingStuck()) return false;
    return this.#isWritable().catch(() => false);
  }

  #isParsingStuck(): boolean {
    const { store, clock, parsingStalledMs } = this.#deps;
    if (parsingStalledMs() <= OLDEST_PENDING_MS) return false;
    const oldest = store.read(reader => oldestDueAge(reader, 'parse', clock()));
    return oldest !== null && oldest > OLDEST_PENDING_MS;
  }

  /** Only a commit proves that the store can be written. */
  async #isWritable(): Promise<true> {
    const now = performance.now();
    if (this.#proof === null || now - this.#provedAt > PROOF_MS) {
      const { store, clock } = this.#deps;
      this.#provedAt = now;
      this.#proof = store.write(writer => putMeta(writer, 'provedAt', clock()), 'settle');
    }
    await this.#proof;
    return true;
  }
}
