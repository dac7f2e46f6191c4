/** Lets so many go on at once; whoever comes later waits for its turn, first come, first served. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is one's turn; the turn lasts until `done`. */
  take(): Promise<void> {
    if (this.#free === 0) return new Promise(resolve => this.#waiting.push(resolve));
    this.#free -= 1;
    return Promise.resolve();
  }

  done(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
