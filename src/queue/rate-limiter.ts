import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock, Logger, RateLimit, RateLimiter, RateVerdict } from '../usecases/ports.js';
import { connectRedis, isDamageError, type RedisSpace } from './connection.js';

/**
 * A sliding window. Allows and records one use of KEYS[1] if fewer than ARGV[1] uses fell into the last ARGV[2]
 * milliseconds. Returns 0 if allowed, else the milliseconds until the oldest use leaves the window. By Redis's clock;
 * uses in the future were noted before that was set back, and are forgotten: they would count for too long.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local max, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local newest = tonumber(redis.call('LINDEX', KEYS[1], -1))
while newest and newest > now do
  redis.call('RPOP', KEYS[1])
  newest = tonumber(redis.call('LINDEX', KEYS[1], -1))
end
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
while oldest and oldest <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
end
if redis.call('LLEN', KEYS[1]) >= max then
  return math.max(1, oldest + window - now)
end
redis.call('RPUSH', KEYS[1], now)
redis.call('PEXPIRE', KEYS[1], window)
return 0
`;

export interface RedisRateLimiterOptions {
  readonly redis: RedisSpace;
  readonly memory: MemoryRateLimiter;
  readonly log: Logger;
}

/**
 * Counts in memory and in Redis; a use needs the permission of both. Redis remembers uses across a restart of the
 * daemon, memory across a loss of Redis. While Redis is away, memory alone decides, without waiting.
 */
export class RedisRateLimiter implements RateLimiter {
  readonly #options: RedisRateLimiterOptions;
  #redis: Redis | undefined;

  constructor(options: RedisRateLimiterOptions) {
    this.#options = options;
  }

  /** Connects in the background and stays connected; never throws for an absent Redis. */
  start(): void {
    this.#redis ??= connectRedis(this.#options.redis.address, 'limiter', this.#options.log);
  }

  close(): void {
    this.#redis?.disconnect();
    this.#redis = undefined;
  }

  async take(limit: RateLimit, key: string): Promise<RateVerdict> {
    const verdict = await this.#options.memory.take(limit, key);
    if (!verdict.isAllowed || this.#redis?.status !== 'ready') return verdict;
    const retryAfterMs = await this.#takeInRedis(this.#redis, limit, key);
    return retryAfterMs > 0 ? { isAllowed: false, retryAfterMs } : verdict;
  }

  async #takeInRedis(redis: Redis, limit: RateLimit, key: string): Promise<number> {
    // A digest keeps email addresses out of Redis, and keys short.
    const digest = createHash('sha256').update(key).digest('base64url').slice(0, 22);
    const redisKey = `${this.#options.redis.prefix}:limit:${limit.name}:${digest}`;
    try {
      return Number(await redis.eval(TAKE, 1, redisKey, limit.max, limit.windowMs));
    } catch (error) {
      // Not what we put there: the key starts anew, and memory has counted meanwhile.
      if (isDamageError(error)) void redis.unlink(redisKey).catch(() => undefined);
      this.#options.log.debug({ err: error }, 'Redis could not count a use; memory did');
      return 0;
    }
  }
}

/** How many keys are remembered; the least recently used one is forgotten first. */
const MAX_KEYS = 50_000;

/**
 * Counts in the memory of this process, and forgets when the process ends. `RedisRateLimiter` asks it first, and does
 * not ask Redis about what it refuses.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  /** Times of the uses in the window, oldest first. The least recently used key comes first. */
  readonly #uses = new Map<string, readonly number[]>();

  constructor(options: { readonly clock: Clock; readonly maxKeys?: number }) {
    this.#clock = options.clock;
    this.#maxKeys = options.maxKeys ?? MAX_KEYS;
  }

  async take(limit: RateLimit, key: string): Promise<RateVerdict> {
    const id = `${limit.name} ${key}`;
    const nowMs = this.#clock();
    // A time in the future was noted before the clock was set back. It would count for too long.
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
    const [leastRecent] = this.#uses.keys();
    if (leastRecent !== undefined) this.#uses.delete(leastRecent);
  }
}
