/**
 * Waits for `work`, but no longer than `timeoutMs`. No timer is left behind.
 * @returns the result of the work, or null when it has not ended in time. Rejects when the work does; a failure after
 *   that time is ignored
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
 * Waits until all of `work` has settled, but no longer than `timeoutMs`. Never rejects.
 * @returns false when some of it has not settled in time
 */
export async function settledWithin(timeoutMs: number, work: Iterable<Promise<unknown>>): Promise<boolean> {
  return (await within(timeoutMs, Promise.allSettled(work))) !== null;
}

interface Waiting {
  readonly isExclusive: boolean;
  readonly begin: () => void;
}

/**
 * Limits how much work runs at once, first come, first served. Exclusive work waits for the work before it, and all
 * work after it waits for it.
 */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #isExclusive = false;

  /** @param limit pieces of work that may run at once */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Pieces of work that run now. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Runs `work` as soon as the limit allows it.
   * @param isExclusive run it while nothing else runs
   * @returns the result of the work; rejects when the work does
   */
  async use<T>(work: () => Promise<T>, isExclusive = false): Promise<T> {
    await new Promise<void>(begin => {
      this.#waiting.push({ isExclusive, begin });
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#taken--;
      this.#isExclusive = false;
      this.#admit();
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const room = next.isExclusive ? 1 : this.#limit;
      if (this.#isExclusive || this.#taken >= room) return;
      this.#waiting.shift();
      this.#taken++;
      this.#isExclusive = next.isExclusive;
      next.begin();
    }
  }
}

/**
 * The back-off before the next try, in milliseconds: `firstMs` after the first failure, twice as long after each
 * further one, `longestMs` at most.
 * @param earlierFailures failures in a row before the last one; 0 for the first
 */
export function backOffMs(
  earlierFailures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): number {
  return Math.min(firstMs * 2 ** earlierFailures, longestMs);
}

/** The message of an error, without its stack; for any other thrown value, its text. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error (`ECONNREFUSED`), which names no host and no path; without a code, as `reasonOf`. */
export function codeOrReasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : reasonOf(error);
}
