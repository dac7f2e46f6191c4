/**
 * Waits for `work`, but no longer than `timeoutMs`. The timer goes with the wait: none is left behind.
 * @returns what the work came to, or null when it had not ended by then. Rejects as the work does; a failure that
 *   comes after the time was up goes unheard
 */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<null>(resolve => {
    timer = setTimeout(resolve, timeoutMs, null);
  });
  try {
    return await Promise.race([work, timeIsUp]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits until all of `work` has ended, well or badly, but no longer than `timeoutMs`. Never rejects.
 * @returns false when some of it had not ended by then
 */
export async function settledWithin(timeoutMs: number, work: Iterable<Promise<unknown>>): Promise<boolean> {
  return (await within(timeoutMs, Promise.allSettled(work))) !== null;
}

interface Waiting {
  readonly isAlone: boolean;
  readonly begin: () => void;
}

/**
 * Room for work: so much at once, or one alone. First come, first served: whoever wants to be alone waits
 * for those before it only, and those behind it wait for it.
 */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #isTakenAlone = false;

  /** @param limit how much work may go on at once */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How much work goes on. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Does `work` as soon as there is room for it, and gives the room back when it has ended, well or badly.
   * @param isAlone only while no other goes on
   * @returns what the work comes to
   */
  async use<T>(work: () => Promise<T>, isAlone = false): Promise<T> {
    await new Promise<void>(begin => {
      this.#waiting.push({ isAlone, begin });
      this.#admit();
    });
    try {
      return await work();
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

/**
 * How long to rest before the next try, in milliseconds: `firstMs` after the first failure, twice as long after
 * each further one, `longestMs` at most.
 * @param earlierFailures in a row before the last one; 0 for the first
 */
export function backOffMs(
  earlierFailures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): number {
  return Math.min(firstMs * 2 ** earlierFailures, longestMs);
}

/** The message of an error, never its stack; of anything else that was thrown, its text. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same in short: the code of an error that has one (`ECONNREFUSED`), which names no host and no path. */
export function codeOrReasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : reasonOf(error);
}
