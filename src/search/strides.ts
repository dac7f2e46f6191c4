/** Sequence numbers from `from` on, up to but not including `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Shorter ones gain little: to find their beginning may take as long. */
const SHORTEST = 16_384;
const CHANGE = 4;
/** Milliseconds: below the first, the next stride is longer; beyond the second, shorter. */
const AIM = { atLeast: 8, atMost: 32 } as const;

/**
 * Parts a question about a range into several, each of some milliseconds, so that others have their turn in between:
 * SQLite cannot be interrupted, and may walk over every message of a range to find none.
 */
export class Strides {
  readonly #whole: Range;
  readonly #isDescending: boolean;
  #length = SHORTEST;

  constructor(whole: Range, isDescending: boolean) {
    this.#whole = whole;
    this.#isDescending = isDescending;
  }

  /** Null where the range is empty. */
  get first(): Range | null {
    return this.#stride(this.#whole);
  }

  /** The stride after this one, which took so long; null when the whole range is done. */
  behind({ from, to }: Range, tookMs: number): Range | null {
    if (tookMs < AIM.atLeast) this.#length *= CHANGE;
    else if (tookMs > AIM.atMost) this.#length = Math.max(SHORTEST, this.#length / CHANGE);
    return this.#stride(
      this.#isDescending ? { from: this.#whole.from, to: from } : { from: to, to: this.#whole.to },
    );
  }

  #stride({ from, to }: Range): Range | null {
    if (from >= to) return null;
    if (this.#isDescending) return { from: Math.max(from, to - this.#length), to };
    return { from, to: Math.min(to, from + this.#length) };
  }
}
