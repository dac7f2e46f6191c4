/** How often the load is looked at. */
const LOOK_MS = 50;
/** The share of the time in which the loop has work; above it, what is added delays something else. */
const BUSY_SHARE = 0.75;

/** Tells whether the event loop had work for most of the time of late. */
export class LoopLoad {
  #since = performance.eventLoopUtilization();
  #lookedAt = performance.now();
  #isBusy = false;

  get isBusy(): boolean {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return this.#isBusy;
    const until = performance.eventLoopUtilization();
    this.#isBusy = performance.eventLoopUtilization(until, this.#since).utilization > BUSY_SHARE;
    this.#since = until;
    this.#lookedAt = now;
    return this.#isBusy;
  }
}
