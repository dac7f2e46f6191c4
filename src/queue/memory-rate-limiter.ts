import type { Clock, RateLimit, RateLimiter, RateVerdict } from '../usecases/ports.js';

/** As many keys as are remembered; the one that was used least lately is forgotten first. */
const MAX_KEYS = 50_000;

/**
 * Counts in this process. Beside the limiter in Redis it is what remains when Redis is away, and it spares Redis
 * whatever it refuses; by itself it forgets with the process.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  /** Instants of the uses that count, oldest first; in order of last use. */
  readonly #uses = new Map<string, readonly number[]>();

  constructor(options: { readonly clock: Clock; readonly maxKeys?: number }) {
    this.#clock = options.clock;
    this.#maxKeys = options.maxKeys ?? MAX_KEYS;
  }

  async take(limit: RateLimit, key: string): Promise<RateVerdict> {
    const id = `${limit.name} ${key}`;
    const nowMs = this.#clock();
    // An instant in the future is from before the clock was set back: it would count for too long.
    const uses = (this.#uses.get(id) ?? []).filter(at => at > nowMs - limit.windowMs && at <= nowMs);
    const [oldest] = uses;
    const isAllowed = oldest === undefined || uses.length < limit.max;
    this.#remember(id, isAllowed ? [...uses, nowMs] : uses);
    return isAllowed ? { isAllowed } : { isAllowed, retryAfterMs: oldest + limit.windowMs - nowMs };
  }

  #remember(id: string, uses: readonly number[]): void {
    this.#uses.delete(id);
    this.#uses.set(id, uses);
    if (this.#uses.size <= this.#maxKeys) return;
    const [leastLately] = this.#uses.keys();
    if (leastLately !== undefined) this.#uses.delete(leastLately);
  }
}
