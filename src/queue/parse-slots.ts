export interface ParseSlotsOptions {
  /** Work that goes on at once. */
  readonly limit: number;
  /** The same while there is something more urgent to do. */
  readonly limitWhenBusy: number;
  readonly isBusy: () => boolean;
}

export interface Applicant {
  /** Nothing else goes on while its work does. */
  readonly isAlone: boolean;
  /** When it began to wait, here or before (milliseconds since the epoch). */
  readonly since: number;
}

interface Waiting extends Applicant {
  readonly begin: () => void;
}

/** After so long nothing is more urgent than work that waits. */
const PATIENCE_MS = 1_000;
/** How soon after a busy moment it is noticed that it is over. */
const LOOK_AGAIN_MS = 5;

/**
 * Room for work: so much at once, or one alone. First come, first served, so that whoever wants to be alone
 * waits for those before it only, and those behind it wait for it.
 */
export class ParseSlots {
  readonly #options: ParseSlotsOptions;
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #isTakenAlone = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ParseSlotsOptions) {
    this.#options = options;
  }

  /** Work that goes on. */
  get taken(): number {
    return this.#taken;
  }

  /** Does `work` as soon as there is room for it. */
  async use(applicant: Applicant, work: () => Promise<void>): Promise<void> {
    await new Promise<void>(begin => {
      this.#waiting.push({ ...applicant, begin });
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
      if (!this.#hasRoomFor(next)) return;
      this.#waiting.shift();
      this.#taken++;
      this.#isTakenAlone = next.isAlone;
      next.begin();
    }
  }

  #hasRoomFor({ isAlone, since }: Applicant): boolean {
    const { limit, limitWhenBusy, isBusy } = this.#options;
    if (isAlone) return this.#taken === 0;
    if (this.#isTakenAlone || this.#taken >= limit) return false;
    if (this.#taken < limitWhenBusy || Date.now() - since >= PATIENCE_MS || !isBusy()) return true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#admit();
    }, LOOK_AGAIN_MS);
    return false;
  }
}
