interface Waiting {
  readonly isAlone: boolean;
  readonly begin: () => void;
}

/**
 * Room for work: so much at once, or one alone. First come, first served: whoever wants to be alone waits
 * for those before it only, and those behind it wait for it.
 */
export class WorkSlots {
  readonly #limit: number;
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #isTakenAlone = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Work that goes on. */
  get taken(): number {
    return this.#taken;
  }

  /** Does `work` as soon as there is room for it; if it is to be alone, while no other goes on. */
  async use(isAlone: boolean, work: () => Promise<void>): Promise<void> {
    await new Promise<void>(begin => {
      this.#waiting.push({ isAlone, begin });
      this.#admit();
    });
    try {
      await work();
    } finally {
      this.#taken--;
      this.#isTakenAlone = false;
      this.#admit();
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const room = next.isAlone ? 1 : this.#limit;
      if (this.#isTakenAlone || this.#taken >= room) return;
      this.#waiting.shift();
      this.#taken++;
      this.#isTakenAlone = next.isAlone;
      next.begin();
    }
  }
}
