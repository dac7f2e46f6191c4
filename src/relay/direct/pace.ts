import { backOffMs } from '../../lib/async.js';

export interface PaceOptions {
  /** At a time to one destination that has asked for nothing. */
  readonly usual: number;
  /** Destinations that are remembered; the one asked for least lately goes first. */
  readonly maxKnown: number;
  /** The first rest of a destination, and the longest; each further one in a row is twice as long. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** A destination may have more than before. */
  readonly onFaster: () => void;
}

interface Known {
  limit: number;
  /** Rests since it was last at its usual pace. */
  rests: number;
  /** By the clock of the process. */
  restsUntil: number;
  timer: NodeJS.Timeout | null;
}

/**
 * How fast each destination may be delivered to. One that asks for a slower pace (421, or a 4xx that speaks of rate)
 * rests, and has half as many at a time from then on; each success gives one back.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Destinations that are not at their usual pace. */
  get size(): number {
    return this.#known.size;
  }

  /** How many at a time; 0 while it rests. */
  limitOf(destination: string): number {
    return this.restOf(destination) > 0 ? 0 : (this.#known.get(destination)?.limit ?? this.#options.usual);
  }

  /** Milliseconds for which nothing is to be sent there; 0 when it does not rest. */
  restOf(destination: string): number {
    return Math.max(0, (this.#known.get(destination)?.restsUntil ?? 0) - performance.now());
  }

  /** It asks for a slower pace. What several messages hear at once counts once. */
  slower(destination: string): void {
    if (this.restOf(destination) > 0) return;
    const before = this.#known.get(destination);
    const { usual, firstMs, longestMs } = this.#options;
    const rests = before?.rests ?? 0;
    this.#rest(destination, backOffMs(rests, { firstMs, longestMs }), {
      limit: Math.max(1, Math.floor((before?.limit ?? usual) / 2)),
      rests: rests + 1,
    });
  }

  /** All that leads there rests: so does it, at no slower pace afterwards. */
  restFor(destination: string, ms: number): void {
    const { limit = this.#options.usual, rests = 0 } = this.#known.get(destination) ?? {};
    if (this.restOf(destination) < ms) this.#rest(destination, ms, { limit, rests });
  }

  /** It has taken a message. */
  succeeded(destination: string): void {
    const known = this.#known.get(destination);
    if (known === undefined || this.restOf(destination) > 0) return;
    known.limit += 1;
    if (known.limit >= this.#options.usual) this.#forget(destination);
    this.#options.onFaster();
  }

  /** No timer is left. */
  close(): void {
    for (const destination of [...this.#known.keys()]) this.#forget(destination);
  }

  #rest(destination: string, ms: number, { limit, rests }: Pick<Known, 'limit' | 'rests'>): void {
    this.#forget(destination);
    const timer = setTimeout(() => {
      const known = this.#known.get(destination);
      if (known !== undefined) known.restsUntil = 0;
      // One that rested for the sake of others has nothing to recover from.
      if (known !== undefined && known.limit >= this.#options.usual) this.#forget(destination);
      this.#options.onFaster();
    }, ms).unref();
    this.#known.set(destination, { limit, rests, restsUntil: performance.now() + ms, timer });
    const [oldest] = this.#known.keys();
    if (this.#known.size <= this.#options.maxKnown || oldest === undefined) return;
    this.#forget(oldest);
    this.#options.onFaster();
  }

  #forget(destination: string): void {
    clearTimeout(this.#known.get(destination)?.timer ?? undefined);
    this.#known.delete(destination);
  }
}
