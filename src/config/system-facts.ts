import { readFileSync } from 'node:fs';
import { availableParallelism, hostname } from 'node:os';

/** What defaults may depend on besides other keys. */
export interface SystemFacts {
  readonly hostname: string;
  readonly cores: number;
  /** True when the machine can bind an IPv6 socket. */
  readonly hasIpv6: boolean;
}

/** Asks the machine. */
export function systemFacts(): SystemFacts {
  return { hostname: hostname(), cores: availableParallelism(), hasIpv6: hasIpv6() };
}

/**
 * Linux lists its IPv6 addresses here, and has no such file without IPv6. Unlike
 * `os.networkInterfaces()` it can be read by a service that may not open netlink sockets.
 */
function hasIpv6(): boolean {
  try {
    return readFileSync('/proc/self/net/if_inet6', 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
