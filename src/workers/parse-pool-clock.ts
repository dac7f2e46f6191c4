/**
 * Measures the time that a thread has had for its message. It stands still while the thread waits for us
 * (the store is slow to read or to write), because what that costs is not the message's fault.
 */
export class ParseClock {
  readonly #onTimeUp: () => void;
  #remainingMs: number;
  #runningSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #isStopped = false;

  constructor(limitMs: number, onTimeUp: () => void) {
    this.#remainingMs = limitMs;
    this.#onTimeUp = onTimeUp;
    this.#run();
  }

  /** Stops the clock; each call wants its `resume`. */
  pause(): void {
    this.#pauses++;
    if (this.#pauses > 1 || this.#runningSince === undefined) return;
    clearTimeout(this.#timer);
    this.#remainingMs -= performance.now() - this.#runningSince;
    this.#runningSince = undefined;
  }

  resume(): void {
    this.#pauses--;
    if (this.#pauses === 0 && !this.#isStopped) this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#runningSince = performance.now();
    this.#timer = setTimeout(this.#onTimeUp, Math.max(0, this.#remainingMs));
  }
}
