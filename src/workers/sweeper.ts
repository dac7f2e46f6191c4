import type { Logger } from '../usecases/ports.js';

/**
 * Runs a sweep now and again, one at a time. It looks by the clock, because deletions come from the command
 * line too; a look that finds nothing costs a few short reads.
 */
export class Sweeper {
  readonly #run: (shouldStop: () => boolean) => Promise<void>;
  readonly #intervalMs: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: {
    run: (shouldStop: () => boolean) => Promise<void>;
    intervalMs: number;
    log: Logger;
  }) {
    this.#run = options.run;
    this.#intervalMs = options.intervalMs;
    this.#log = options.log;
  }

  start(): void {
    this.#running = this.#sweep();
  }

  /** Resolves when the step in hand is complete. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  async #sweep(): Promise<void> {
    try {
      await this.#run(() => this.#isStopping);
    } catch (error) {
      this.#log.error({ err: error }, 'a sweep failed; it is tried again');
    }
    if (this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#sweep();
    }, this.#intervalMs);
  }
}
