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

/** Limits how much work runs at once, first come, first served. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /** @param limit pieces of work that may run at once */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs `work` as soon as the limit allows it. @returns the result of the work; rejects when the work does */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#limit) this.#taken++;
    else await new Promise<void>(begin => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      // The place goes to who waits, or is free.
      const begin = this.#waiting.shift();
      if (begin === undefined) this.#taken--;
      else begin();
    }
  }
}

interface Applicant {
  readonly party: string;
  readonly amount: number;
  readonly begin: () => void;
}

interface Standing {
  taken: number;
  waiting: number;
  /** When it was last admitted, counted in admissions. */
  lastTurn: number;
}

/**
 * Divides a capacity among parties so that none of them can keep out the others. No party has more than `perParty`.
 * Whoever has least comes first; of those, whoever has waited longest since it was last admitted.
 */
export class FairShare {
  readonly #capacity: number;
  readonly #perParty: number;
  readonly #parties = new Map<string, Standing>();
  #waiting: Applicant[] = [];
  #taken = 0;
  #turns = 0;

  constructor({ capacity, perParty }: { readonly capacity: number; readonly perParty: number }) {
    this.#capacity = capacity;
    this.#perParty = Math.min(perParty, capacity);
  }

  /** How much is taken now. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes `amount`, or all that one party may have if that is less, as soon as it is this party's turn.
   * @returns gives it back (once, however often it is called); null when the turn has not come in `timeoutMs`
   */
  async take(party: string, amount: number, timeoutMs: number): Promise<(() => void) | null> {
    const due = Math.min(amount, this.#perParty);
    const standing = this.#parties.get(party) ?? { taken: 0, waiting: 0, lastTurn: 0 };
    this.#parties.set(party, standing);
    standing.waiting++;
    const isAdmitted = await new Promise<boolean>(resolve => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter(one => one !== applicant);
        resolve(false);
      }, timeoutMs);
      const begin = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const applicant: Applicant = { party, amount: due, begin };
      this.#waiting.push(applicant);
      this.#admit();
    });
    if (!isAdmitted) {
      standing.waiting--;
      this.#forget(party, standing);
      // It may have been the next one, for which the others waited.
      this.#admit();
      return null;
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      standing.taken -= due;
      this.#taken -= due;
      this.#forget(party, standing);
      this.#admit();
    };
  }

  #admit(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { applicant, standing } = next;
      // It waits for room, and nobody behind it takes that room away.
      if (this.#taken + applicant.amount > this.#capacity) return;
      this.#waiting = this.#waiting.filter(one => one !== applicant);
      standing.waiting--;
      standing.taken += applicant.amount;
      standing.lastTurn = ++this.#turns;
      this.#taken += applicant.amount;
      applicant.begin();
    }
  }

  #next(): { applicant: Applicant; standing: Standing } | null {
    let next: { applicant: Applicant; standing: Standing } | null = null;
    for (const applicant of this.#waiting) {
      const standing = this.#parties.get(applicant.party);
      if (standing === undefined || standing.taken + applicant.amount > this.#perParty) continue;
      if (next === null || comesBefore(standing, next.standing)) next = { applicant, standing };
    }
    return next;
  }

  #forget(party: string, { taken, waiting }: Standing): void {
    if (taken === 0 && waiting === 0) this.#parties.delete(party);
  }
}

function comesBefore(one: Standing, other: Standing): boolean {
  return one.taken < other.taken || (one.taken === other.taken && one.lastTurn < other.lastTurn);
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
