import { Redis, type RedisOptions } from 'ioredis';
import { backOffMs } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';

/**
 * How we hold a connection, by what it is for.
 *
 * - `producer`: a command fails at once while Redis is away (no offline queue), and one that was under way
 *   when the connection broke fails too (`maxRetriesPerRequest: 0`; without it ioredis forgets such a
 *   command and its promise never settles). The store holds the truth, so failing is cheap and waiting
 *   is not: nothing may pile up.
 * - `worker`: BullMQ's loop wants commands that outlive an outage (`maxRetriesPerRequest: null`); there is
 *   never more than a handful of them.
 * - `limiter`: as a producer, and impatient: a request waits for the answer.
 */
export type ConnectionRole = 'producer' | 'worker' | 'limiter';

const COMMAND_TIMEOUT_MS = 10_000;
const LIMITER_TIMEOUT_MS = 250;
/** A peer that has gone silent is given up: longer than any blocking command of ours (10 s). */
const SOCKET_TIMEOUT_MS = 30_000;
const RETRIES = { firstMs: 50, longestMs: 2_000 };

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

/** Hears every `error` event (an unheard one would end the process) and speaks once an outage. */
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

/** True for the errors that only say that Redis is away, whatever layer they come from. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true;
  return /connection is closed|connection closed|isn't writeable|max retries per request|command timed out|socket timeout|command aborted|^LOADING/i.test(
    error.message,
  );
}

/** Where Redis listens: our own child on a unix socket, or a server somebody else runs. */
export type RedisAddress =
  | { readonly mode: 'managed'; readonly socketPath: string }
  | { readonly mode: 'external'; readonly url: string };

/** Which Redis, and where in it. */
export interface RedisSpace {
  readonly address: RedisAddress;
  /** Of every Redis key of ours; two appliances on one Redis need two. */
  readonly prefix: string;
}

/** The address as a log may show it: never with the password. */
export function describeRedisAddress(address: RedisAddress): string {
  if (address.mode === 'managed') return address.socketPath;
  if (!URL.canParse(address.url)) return '(not a URL)';
  const url = new URL(address.url);
  return `${url.protocol}//${url.host}${url.pathname}`;
}
