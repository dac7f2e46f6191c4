import { readFileSync } from 'node:fs';
import { availableParallelism, hostname } from 'node:os';

/** Facts about the machine that defaults depend on. */
export interface SystemFacts {
  readonly hostname: string;
  readonly cores: number;
  /** True when the machine has IPv6. */
  readonly hasIpv6: boolean;
}

/** The facts of this machine. */
export function systemFacts(): SystemFacts {
  return { hostname: hostname(), cores: availableParallelism(), hasIpv6: hasIpv6() };
}

/**
 * Linux lists its IPv6 addresses in this file, which does not exist without IPv6. Unlike
 * `os.networkInterfaces()`, it can be read by a service that may not open netlink sockets.
 */
function hasIpv6(): boolean {
  try {
    return readFileSync('/proc/self/net/if_inet6', 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
