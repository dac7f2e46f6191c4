import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryPart } from '../cli/dependencies.js';
import type { Config } from '../config/load-config.js';
import { MAX_MESSAGE_BYTES } from '../contract/limits.js';
import { CACHE_BYTES } from '../dns/dns-client.js';
import { connectionBytes } from '../http/server/connections.js';
import { SEARCH_BYTES } from '../search/word-threads.js';
import { TOTAL_WINDOW_BYTES } from '../store/records/blob-upload.js';
import { RANKING_LIMITS } from '../usecases/search/rankings.js';
import { MAX_COMPOSED_BYTES } from '../usecases/sending/in-flight.js';
import { IN_HAND_BYTES } from '../usecases/shared/in-hand.js';
import { threadBytes } from '../workers/parse-pool-thread.js';
import { deliveriesInHand } from './delivering.js';
import { HOOK_BYTES } from './hooking.js';

const MIB = 2 ** 20;

/** The process at rest, its code and the pages of lists that it keeps. */
const REST_BYTES = 176 * MIB;
/** One SMTP session: what has arrived and waits for the store. */
const SESSION_BYTES = 128 * 1024;
/** One delivery in hand: its message, its DKIM signatures, and the blocks that are on their way to the socket. */
const DELIVERY_BYTES = MAX_MESSAGE_BYTES + 256 * 1024;
/** The managed Redis holds ids of waiting work, and rewrites its file from a copy of itself. */
const REDIS_BYTES = 64 * MIB;

/**
 * What the daemon with this configuration may take of memory when everything that is bounded is used up at once, its
 * Redis included. Pages of the store do not count: the system takes them back.
 * @param delivers whether it delivers directly: under another transport it does so while deliveries are left that were
 *   accepted before, which the store knows alone
 */
export function memoryNeeds(
  config: Config,
  delivers = config.relay.transport === 'direct',
): readonly MemoryPart[] {
  const { parse, http, smtp, redis } = config;
  return [
    { part: 'the daemon at rest', bytes: REST_BYTES },
    {
      part: 'parser threads (parse.workers, parse.memory_mib)',
      // A second thread comes to the help of a single one (`workers/parse-pool.ts`).
      bytes: Math.max(2, parse.workers) * threadBytes(parse.memoryMib),
    },
    { part: 'large requests in hand', bytes: IN_HAND_BYTES },
    { part: 'messages that wait for the relay', bytes: MAX_COMPOSED_BYTES },
    {
      part: 'deliveries in hand, and answers of the DNS (relay.transport, relay.direct.max_connections)',
      bytes: delivers ? deliveriesInHand(config) * DELIVERY_BYTES + CACHE_BYTES : 0,
    },
    { part: 'the search index', bytes: SEARCH_BYTES + RANKING_LIMITS.maxBytes },
    { part: 'webhooks', bytes: HOOK_BYTES },
    { part: 'bytes on their way into the store', bytes: 2 * TOTAL_WINDOW_BYTES },
    { part: 'connections of the API (http.max_clients)', bytes: connectionBytes(http.maxClients) },
    { part: 'SMTP sessions (smtp.max_clients)', bytes: smtp.maxClients * SESSION_BYTES },
    { part: 'Redis (redis.mode)', bytes: redis.mode === 'managed' ? REDIS_BYTES : 0 },
  ];
}

/** All parts together. */
export function memoryNeeded(...of: Parameters<typeof memoryNeeds>): number {
  return memoryNeeds(...of).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The limit of memory of this process, and the file that sets it. */
export interface MemoryLimit {
  readonly bytes: number;
  readonly file: string;
}

/**
 * The least limit of memory that the control groups of this process set (cgroup v2: memory.max and memory.high; v1:
 * memory.limit_in_bytes), those above its own included. Null when there is none or it cannot be read.
 * @param root where the file systems of the kernel are mounted
 */
export function memoryLimit(root = '/'): MemoryLimit | null {
  const limits = groupsOf(root).flatMap(({ mount, path, files }) =>
    withParents(path).flatMap(folder => files.flatMap(file => readLimit(join(mount, folder, file)))),
  );
  return limits.reduce<MemoryLimit | null>(
    (least, limit) => (least === null || limit.bytes < least.bytes ? limit : least),
    null,
  );
}

interface Group {
  readonly mount: string;
  readonly path: string;
  readonly files: readonly string[];
}

/** Lines are `hierarchy:controllers:path`; hierarchy 0 is v2 (cgroups(7)). */
function groupsOf(root: string): readonly Group[] {
  const mounts = join(root, 'sys/fs/cgroup');
  const lines = readText(join(root, 'proc/self/cgroup'))?.split('\n') ?? [];
  return lines.flatMap(line => {
    const [hierarchy, controllers = '', ...rest] = line.split(':');
    const path = rest.join(':');
    if (hierarchy === '0') return [{ mount: mounts, path, files: ['memory.max', 'memory.high'] }];
    if (!controllers.split(',').includes('memory')) return [];
    return [{ mount: join(mounts, 'memory'), path, files: ['memory.limit_in_bytes'] }];
  });
}

/** `/a/b`: `/a/b`, `/a` and `/`. In a container the path may not be there, and its root is the container's group. */
function withParents(path: string): readonly string[] {
  const names = path.split('/').filter(name => name !== '');
  return [...names.keys(), names.length].map(count => names.slice(0, count).join('/'));
}

/** `max`, in v1 a number near 2^63, is no limit. */
function readLimit(file: string): MemoryLimit[] {
  const text = readText(file)?.trim() ?? 'max';
  const bytes = Number(text);
  return text === '' || !(bytes < 2 ** 60) ? [] : [{ bytes, file }];
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
