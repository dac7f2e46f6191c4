import { Redis } from 'ioredis';
import { reasonOf } from '../../lib/async.js';
import type { Logger } from '../../usecases/ports.js';
import { describeRedisAddress } from '../connection.js';

/** A fault of Redis or its configuration that only the operator can repair. */
export class RedisConfigurationError extends Error {
  override readonly name = 'RedisConfigurationError';
}

const OLDEST_VERSION = [6, 2] as const;

/**
 * Checks a Redis that the operator runs, at start. A server that evicts keys would silently drop queued ids, so
 * `maxmemory-policy` must be `noeviction`. It is read with CONFIG, or with INFO where CONFIG is forbidden. If neither
 * tells it, or Redis does not answer, that is only logged: Redis may be away at any time.
 * @throws RedisConfigurationError when the URL, the password, the policy or the version is wrong
 */
export async function checkExternalRedis(url: string, log: Logger, timeoutMs = 5_000): Promise<void> {
  const shown = URL.canParse(url) ? describeRedisAddress({ mode: 'external', url }) : null;
  if (shown === null || !/^rediss?:|^unix:/.test(url)) {
    throw new RedisConfigurationError(
      'redis.url must be a URL such as redis://127.0.0.1:6379/0 when redis.mode = "external"',
    );
  }
  const facts = await readFacts(url, timeoutMs);
  if (facts.status === 'unreachable') {
    log.warn({ reason: facts.reason }, `Redis at ${shown} does not answer; its settings are unchecked`);
    return;
  }
  if (facts.status === 'denied') {
    throw new RedisConfigurationError(`Redis at ${shown} refuses us: ${facts.reason}`);
  }
  if (facts.policy === null) {
    log.warn({}, `Redis at ${shown} does not tell its maxmemory-policy; make sure that it is noeviction`);
  } else if (facts.policy !== 'noeviction') {
    throw new RedisConfigurationError(
      `Redis at ${shown} has maxmemory-policy "${facts.policy}"; set it to "noeviction", ` +
        'because an evicted key is a queued message that nobody works on',
    );
  }
  if (facts.version !== null && isOlder(facts.version)) {
    throw new RedisConfigurationError(
      `Redis at ${shown} is version ${facts.version}; at least ${OLDEST_VERSION.join('.')} is needed`,
    );
  }
}

/** What a Redis says of itself. Never rejects. */
export async function lookAtRedis(url: string, timeoutMs = 5_000): Promise<Facts & { isTooOld: boolean }> {
  const facts = await readFacts(url, timeoutMs);
  const isTooOld = facts.status === 'known' && facts.version !== null && isOlder(facts.version);
  return { ...facts, isTooOld };
}

type Facts =
  | {
      readonly status: 'known';
      readonly policy: string | null;
      readonly version: string | null;
      /** Its last write to disk failed: by default it refuses new work then. */
      readonly hasFailedToSave: boolean;
    }
  | { readonly status: 'unreachable'; readonly reason: string }
  | { readonly status: 'denied'; readonly reason: string };

async function readFacts(url: string, timeoutMs: number): Promise<Facts> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    disableClientInfo: true,
    // The check uses INFO, which may be forbidden.
    enableReadyCheck: false,
  });
  let lastError: Error | undefined;
  redis.on('error', (error: Error) => {
    lastError = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    const info = await redis.info().catch(() => '');
    const version = /^redis_version:(.+?)\r?$/m.exec(info)?.[1] ?? null;
    const fromInfo = /^maxmemory_policy:(.+?)\r?$/m.exec(info)?.[1] ?? null;
    const hasFailedToSave = /^(?:rdb_last_bgsave_status|aof_last_write_status):err/m.test(info);
    return { status: 'known', policy: (await readPolicy(redis)) ?? fromInfo, version, hasFailedToSave };
  } catch (error) {
    const reason = lastError?.message ?? reasonOf(error);
    return { status: /NOAUTH|WRONGPASS|NOPERM/.test(reason) ? 'denied' : 'unreachable', reason };
  } finally {
    redis.disconnect();
  }
}

/** Null where CONFIG is forbidden or renamed, as with hosted services. */
async function readPolicy(redis: Redis): Promise<string | null> {
  try {
    const answer = await redis.config('GET', 'maxmemory-policy');
    return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : null;
  } catch {
    return null;
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]);
}
