import { readFileSync } from 'node:fs';
import type { Config } from '../config/load-config.js';
import { MAX_OPEN } from '../dns/dns-client.js';
import { SEARCH_FILES } from '../search/word-threads.js';
import type { Logger } from '../usecases/ports.js';
import { HOOK_SOCKETS } from './hooking.js';

/** Descriptors for everything but clients: the store and its readers, Redis, the relay, listeners, the log. */
const KEPT = 256;
const LEAST_HTTP_CLIENTS = 16;

/**
 * How many connections the HTTP listener may have open, so that those of SMTP and the files of the store always get a
 * descriptor. Warns when that is fewer than `http.max_clients`.
 * @param delivers whether this process delivers directly, be it only what another transport has left
 */
export function httpClients(
  { http, smtp, relay }: Config,
  delivers: boolean,
  log: Logger,
  limit = descriptorLimit(),
): number {
  const outgoing = delivers ? relay.direct.maxConnections + MAX_OPEN : 0;
  const kept = SEARCH_FILES + HOOK_SOCKETS + KEPT;
  const left = Math.max(LEAST_HTTP_CLIENTS, limit - smtp.maxClients - outgoing - kept);
  if (left >= http.maxClients) return http.maxClients;
  log.warn(
    { limit, smtp_max_clients: smtp.maxClients, http_max_clients: left },
    'the process may open too few files for http.max_clients: fewer clients are served. Raise the limit (LimitNOFILE= of the unit, "ulimit -n")',
  );
  return left;
}

/** The soft limit, which Node raises to the hard one at its start (proc(5)). */
function descriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
