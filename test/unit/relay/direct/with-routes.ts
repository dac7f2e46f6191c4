import type { Test } from 'tap';
import { DnsClient, type DnsTimes } from '../../../../src/dns/dns-client.js';
import { Reach } from '../../../../src/domain/networks.js';
import { DirectRoutes, type DirectRoutesOptions } from '../../../../src/relay/direct/find-route.js';
import type { Route } from '../../../../src/relay/direct/route.js';
import { type DnsServer, startDnsServer, type Zones } from '../../../support/dns/dns-server.js';

export interface TestRoutes {
  readonly routes: DirectRoutes;
  readonly server: DnsServer;
  readonly dns: DnsClient;
}

const NO_POLICIES = { policyOf: () => Promise.resolve(null), keptFor: () => null };

/** Routes of a server `mail.ours.test` at 127.0.0.1, with these zones; IPv4 only, and no network is allowed. */
export async function withRoutes(
  t: Test,
  zones: Zones,
  options: Partial<DirectRoutesOptions> & {
    readonly allow?: readonly string[];
    readonly times?: DnsTimes;
  } = {},
): Promise<TestRoutes> {
  const { allow = [], times, ...rest } = options;
  const server = await startDnsServer(t, zones);
  const dns = new DnsClient({
    servers: [server.address],
    trustAd: false,
    ...(times === undefined ? {} : { times }),
  });
  t.teardown(() => dns.close());
  const routes = new DirectRoutes({
    dns,
    reach: new Reach(allow),
    policies: NO_POLICIES,
    hostname: 'mail.ours.test',
    listens: () => [{ host: '127.0.0.1', port: 25 }],
    port: 25,
    tls: 'opportunistic',
    ipv6: 'off',
    sourceAddress: [],
    ...rest,
  });
  return { routes, server, dns };
}

/** Names of the hosts of a route, in order; the whole route when it has none. */
export function namesOf(route: Route): unknown {
  return route.kind === 'hosts' ? route.hosts.map(({ name }) => name) : route;
}

export function addressesOf(route: Route): unknown {
  return route.kind === 'hosts'
    ? route.hosts.flatMap(({ addresses }) => addresses.map(({ address }) => address))
    : route;
}
