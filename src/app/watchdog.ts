import { reasonOf } from '../lib/async.js';
import { getMeta, putMeta } from '../store/engine/meta.js';
import { NoRoomError } from '../store/engine/room.js';
import type { Store } from '../store/engine/store.js';
import type { Clock, Logger } from '../usecases/ports.js';

export interface WatchdogOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** After so long without a sign of life the process is ended from outside. */
  readonly limitMs: number;
  readonly alive: () => void;
  /** A commit is asked for no more often. */
  readonly commitEveryMs?: number;
}

/** Of the time that may pass without a sign of life, the part after which the next is due. */
const SHARE = 4;
/** A commit costs a flush to disk, so it is not asked for more often. */
const COMMIT_EVERY_MS = 10_000;

/**
 * Gives signs of life as long as the process does what it is for: the timer shows that the main loop turns, a read that
 * the store can be read, and a small commit that it can be written. While a commit has not come back, no sign is given:
 * a store that hangs counts as dead. A full disk does not, because a new start would find it as full.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #timer: NodeJS.Timeout;
  #commit: Promise<void> | null = null;
  #committedAt = Number.NEGATIVE_INFINITY;
  #isStopping = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), options.limitMs / SHARE).unref();
    void this.#look();
  }

  /** The store is being closed: from now on the main loop alone shows that the stop goes on. */
  stopping(): void {
    this.#isStopping = true;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { alive, log } = this.#options;
    if (this.#isStopping) return alive();
    if (this.#commit !== null) return;
    try {
      await this.#prove();
      alive();
    } catch (error) {
      if (!this.#isStopping)
        log.error({ reason: reasonOf(error) }, 'the store does not work: no sign of life is given');
    }
  }

  /** @throws what the store says */
  async #prove(): Promise<void> {
    const { store, clock, commitEveryMs = COMMIT_EVERY_MS } = this.#options;
    store.read(reader => getMeta(reader, 'schema'));
    if (performance.now() - this.#committedAt < commitEveryMs) return;
    this.#commit = store
      .write(writer => putMeta(writer, 'provedAt', clock()), 'settle')
      .catch((error: unknown) => {
        if (!(error instanceof NoRoomError)) throw error;
      })
      .finally(() => {
        this.#commit = null;
      });
    await this.#commit;
    this.#committedAt = performance.now();
  }
}
