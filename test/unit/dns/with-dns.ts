import type { Test } from 'tap';
import { DnsClient, type DnsClientOptions } from '../../../src/dns/dns-client.js';
import { type DnsServer, startDnsServer, type Zones } from '../../support/dns/dns-server.js';

/** A server with these zones, and a client that asks it; both end with the test. */
export async function withDns(
  t: Test,
  zones: Zones,
  options: Partial<DnsClientOptions> = {},
): Promise<{ server: DnsServer; dns: DnsClient }> {
  const server = await startDnsServer(t, zones);
  return { server, dns: dnsClient(t, { servers: [server.address], ...options }) };
}

export function dnsClient(t: Test, options: Partial<DnsClientOptions>): DnsClient {
  const dns = new DnsClient({ servers: [], trustAd: false, ...options });
  t.teardown(() => dns.close());
  return dns;
}

/** For tests in which a server says nothing. */
export const IMPATIENT = { tryMs: 150, totalMs: 5_000 } as const;
