import { settledWithin } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';

export interface BackgroundJobsOptions {
  /** Names the jobs in the log. */
  readonly name: string;
  readonly concurrency: number;
  /** How many jobs may wait; further ones are dropped. */
  readonly maxWaiting: number;
  readonly log: Logger;
}

/**
 * Does work after a response has been sent, so that the response does not wait for it and its timing tells nothing
 * about it. Jobs are kept in memory and lost with the process: use it only for work that will be requested again.
 */
export class BackgroundJobs {
  readonly #options: BackgroundJobsOptions;
  readonly #waiting: (() => Promise<unknown>)[] = [];
  readonly #running = new Set<Promise<void>>();
  #isStopping = false;

  constructor(options: BackgroundJobsOptions) {
    this.#options = options;
  }

  /** Takes a job and returns before it starts. Drops it when too many wait, or after `stop`. Never throws. */
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

  /** Takes no more jobs and drops those that wait. Resolves when running jobs are done, or after `graceMs`. */
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
 * Runs a sweep every `intervalMs`, one at a time. It polls, because the command line deletes from another process; a
 * sweep that finds nothing costs a few short reads.
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

  /** Resolves when the current step of the sweep is complete. */
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
