import type { WorkId } from './work-places.js';

/** An entry that Redis has lost is taken for one after this time. */
const LATE_MS = 60_000;

/**
 * Which ids wait in Redis until they are due: a delayed job for each, within a bound. It only saves time: an id that has
 * none, or whose job Redis loses, is found by the reconciler when it is due.
 */
export class Delays {
  readonly #max: number;
  /** Id -> until when its job is there, by the clock of the process. */
  readonly #until = new Map<WorkId, number>();
  /** Name of the job -> id. */
  readonly #jobs = new Map<string, WorkId>();
  #last = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * @returns the name of the job that is to be added, a new one each time, because the one before may be ending still;
   *   null when the id has one, or there is no room
   */
  enter(id: WorkId, delayMs: number): string | null {
    const nowMs = performance.now();
    if ((this.#until.get(id) ?? nowMs) > nowMs) return null;
    if (this.#jobs.size >= this.#max) this.#forgetLost(nowMs);
    if (this.#jobs.size >= this.#max) return null;
    const job = `later${++this.#last}`;
    this.#until.set(id, nowMs + delayMs + LATE_MS);
    this.#jobs.set(job, id);
    return job;
  }

  /** The job was taken from Redis, or is not there. */
  leave(job: string): void {
    const id = this.#jobs.get(job);
    this.#jobs.delete(job);
    if (id !== undefined) this.#until.delete(id);
  }

  clear(): void {
    this.#until.clear();
    this.#jobs.clear();
  }

  #forgetLost(nowMs: number): void {
    for (const [job, id] of this.#jobs) if ((this.#until.get(id) ?? nowMs) <= nowMs) this.leave(job);
  }
}
