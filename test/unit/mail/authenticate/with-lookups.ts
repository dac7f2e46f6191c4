import type { Test } from 'tap';
import { DnsClient } from '../../../../src/dns/dns-client.js';
import { recordsOrThrow } from '../../../../src/dns/records-or-throw.js';
import { lookUpReverse } from '../../../../src/dns/reverse.js';
import type { Authentication, Origin } from '../../../../src/domain/authentication.js';
import type { Lookups } from '../../../../src/mail/authenticate/lookups.js';
import { MessageCheck } from '../../../../src/mail/authenticate/message-check.js';
import { type DnsServer, startDnsServer, type Zones } from '../../../support/dns/dns-server.js';

export interface TestDns extends Lookups {
  readonly server: DnsServer;
}

/** Look-ups in zones that a real server serves on loopback. */
export async function startLookups(t: Test, zones: Zones, tryMs = 1_000): Promise<TestDns> {
  const server = await startDnsServer(t, zones);
  const client = new DnsClient({
    servers: [server.address],
    trustAd: false,
    times: { tryMs, totalMs: 3 * tryMs },
  });
  t.teardown(() => client.close());
  return {
    server,
    resolve: (name, type) => recordsOrThrow(client, name, type),
    async reverse(address) {
      const found = await lookUpReverse(client, address);
      if (found.kind === 'confirmed') return { result: 'pass', name: found.name };
      return { result: found.kind === 'failed' ? 'temperror' : 'fail', name: null };
    },
  };
}

export const ORIGIN: Origin = { clientAddress: '192.0.2.1', helo: 'mx.example.net', sender: '' };

/** Checks a message whose lines end with CRLF or LF, as CRLF. */
export async function check(
  message: string | Uint8Array,
  lookups: Lookups,
  options: {
    readonly origin?: Partial<Origin>;
    readonly nowMs?: number;
    readonly trustedSealers?: string[];
  } = {},
): Promise<Authentication> {
  const origin = { ...ORIGIN, ...options.origin };
  const { nowMs = Date.now(), trustedSealers = [] } = options;
  const checked = new MessageCheck({ origin, nowMs, trustedSealers });
  const bytes =
    typeof message === 'string' ? Buffer.from(message.replace(/\r?\n/g, '\r\n'), 'utf8') : message;
  checked.feed(bytes);
  return checked.finish(lookups);
}
