import { Redis, type RedisOptions } from 'ioredis';
import { backOffMs } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';

/**
 * What a connection is used for, which decides how it behaves while Redis is away.
 *
 * - `producer`: commands fail at once (no offline queue). So does a command that is in flight when the connection
 *   breaks (`maxRetriesPerRequest: 0`; without it ioredis forgets the command and its promise never settles). The
 *   store knows what is pending, so a failure costs nothing, and waiting commands would pile up.
 * - `worker`: BullMQ's loop needs commands that wait until Redis is back (`maxRetriesPerRequest: null`). There are
 *   never more than a few of them.
 * - `limiter`: like a producer, with a short timeout, because an HTTP request waits for the answer.
 */
export type ConnectionRole = 'producer' | 'worker' | 'limiter';

const COMMAND_TIMEOUT_MS = 10_000;
const LIMITER_TIMEOUT_MS = 250;
/** A connection without any traffic for this long is closed. Longer than our longest blocking command (10 s). */
const SOCKET_TIMEOUT_MS = 30_000;
const RETRIES = { firstMs: 50, longestMs: 2_000 };

/**
 * Connects in the background and reconnects with back-off, for as long as it takes; outages are logged. Never throws
 * for an absent Redis.
 */
export function connectRedis(address: RedisAddress, role: ConnectionRole, log: Logger): Redis {
  const redis =
    address.mode === 'managed'
      ? new Redis({ path: address.socketPath, ...connectionOptions(role) })
      : new Redis(address.url, connectionOptions(role));
  reportOutages(redis, `${role} connection to ${describeRedisAddress(address)}`, log);
  return redis;
}

function connectionOptions(role: ConnectionRole) {
  return {
    retryStrategy: (attempt: number) => backOffMs(attempt - 1, RETRIES),
    connectTimeout: 5_000,
    disconnectTimeout: 250,
    keepAlive: 30_000,
    disableClientInfo: true,
    socketTimeout: SOCKET_TIMEOUT_MS,
    ...(role === 'worker'
      ? { enableOfflineQueue: true, maxRetriesPerRequest: null }
      : {
          enableOfflineQueue: false,
          maxRetriesPerRequest: 0,
          commandTimeout: role === 'producer' ? COMMAND_TIMEOUT_MS : LIMITER_TIMEOUT_MS,
        }),
  } satisfies RedisOptions;
}

/** Logs each outage once, and its end. An `error` event without a listener would end the process. */
function reportOutages(redis: Redis, what: string, log: Logger): void {
  let isDown = false;
  let isDiscarded = false;
  redis.on('error', (error: Error) => {
    if (isDown || isDiscarded) return;
    isDown = true;
    log.warn({ reason: error.message }, `${what} failed; retrying until it is back`);
  });
  redis.on('close', () => {
    if (isDown || isDiscarded || redis.status === 'end') return;
    isDown = true;
    log.warn({ reason: 'connection closed' }, `${what} lost; retrying until it is back`);
  });
  redis.on('ready', () => {
    if (isDown) log.info({}, `${what} is back`);
    isDown = false;
  });
  redis.on('end', () => {
    isDiscarded = true;
  });
}

/** Does the error only say that Redis is away? It may come from the system, ioredis or BullMQ. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true;
  return /connection is closed|connection closed|isn't writeable|max retries per request|command timed out|socket timeout|command aborted|^LOADING/i.test(
    error.message,
  );
}

/**
 * Does the error say that keys of ours hold what we never put there: another type, or no number where one belongs?
 * Redis wraps what a script meets in words of its own.
 */
export function isDamageError(error: unknown): boolean {
  return (
    error instanceof Error &&
    /WRONGTYPE|value is not an integer|not a valid float|attempt to (compare|perform|index|concatenate|call)/.test(
      error.message,
    )
  );
}

/** Where Redis listens: our child process on a unix socket, or a server that the operator runs. */
export type RedisAddress =
  | { readonly mode: 'managed'; readonly socketPath: string }
  | { readonly mode: 'external'; readonly url: string };

/** The Redis to use and our namespace in it. */
export interface RedisSpace {
  readonly address: RedisAddress;
  /** Every key of ours begins with it. Two appliances on one Redis need different ones. */
  readonly prefix: string;
}

/** The address for logs: without user and password. */
export function describeRedisAddress(address: RedisAddress): string {
  if (address.mode === 'managed') return address.socketPath;
  if (!URL.canParse(address.url)) return '(not a URL)';
  const url = new URL(address.url);
  return `${url.protocol}//${url.host}${url.pathname}`;
}
