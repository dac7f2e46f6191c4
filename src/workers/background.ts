import { settledWithin } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';

export interface BackgroundJobsOptions {
  /** For the log. */
  readonly name: string;
  readonly concurrency: number;
  /** Jobs that may wait; more are dropped. */
  readonly maxWaiting: number;
  readonly log: Logger;
}

/**
 * Work that follows an answer and that the answer must not wait for, nor show by its time. It is kept in memory:
 * only work that somebody will ask for again may be lost with the process.
 */
export class BackgroundJobs {
  readonly #options: BackgroundJobsOptions;
  readonly #waiting: (() => Promise<unknown>)[] = [];
  readonly #running = new Set<Promise<void>>();
  #isStopping = false;

  constructor(options: BackgroundJobsOptions) {
    this.#options = options;
  }

  /** Takes a job and returns at once, before any of it runs. Never throws. */
  offer(job: () => Promise<unknown>): void {
    const { name, maxWaiting, log } = this.#options;
    if (this.#isStopping) return;
    if (this.#waiting.length >= maxWaiting) {
      log.warn({ waiting: this.#waiting.length }, `${name}: too much waits, a job was dropped`);
      return;
    }
    this.#waiting.push(job);
    setImmediate(() => this.#runNext());
  }

  /** Takes nothing more; resolves when what runs is done, or after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#waiting.length = 0;
    await settledWithin(graceMs, this.#running);
  }

  #runNext(): void {
    if (this.#running.size >= this.#options.concurrency) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    const run = this.#run(job).finally(() => {
      this.#running.delete(run);
      this.#runNext();
    });
    this.#running.add(run);
  }

  async #run(job: () => Promise<unknown>): Promise<void> {
    try {
      await job();
    } catch (error) {
      this.#options.log.error({ err: error }, `${this.#options.name}: a job failed`);
    }
  }
}

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
