import type { Test } from 'tap';
import type { DnsServer, ZoneEntry } from '../dns/dns-server.js';
import { type FakeSmarthost, withFakeSmarthost } from '../smarthost/fake-smarthost.js';
import type { Script, SmarthostSettings } from '../smarthost/smarthost-script.js';

/**
 * Mail servers of other domains, which a script makes misbehave. Each has an address of its own on loopback, and all
 * have the same port, as mail servers do:
 *
 *     const servers = await MailServers.start(t, dns);
 *     const rude = await servers.add({ greeting: say('554 No') });
 *     servers.serve('far.example', rude, servers.good);    // by preference
 */
export class MailServers {
  /** Takes everything. */
  readonly good: FakeSmarthost;
  readonly all: FakeSmarthost[] = [];
  readonly #t: Test;
  readonly #dns: DnsServer;

  private constructor(t: Test, dns: DnsServer, good: FakeSmarthost) {
    this.#t = t;
    this.#dns = dns;
    this.good = good;
    this.all.push(good);
  }

  static async start(t: Test, dns: DnsServer): Promise<MailServers> {
    return new MailServers(t, dns, await withFakeSmarthost(t, {}, { address: addressOf(0) }));
  }

  get port(): number {
    return this.good.port;
  }

  async add(script: Script, settings: SmarthostSettings = {}): Promise<FakeSmarthost> {
    const place = { port: this.port, address: addressOf(this.all.length) };
    const server = await withFakeSmarthost(this.#t, script, { ...settings, ...place });
    this.all.push(server);
    return server;
  }

  /** Makes these the mail servers of a domain, the first one preferred; `null` has nobody who listens. */
  serve(domain: string, ...servers: readonly (FakeSmarthost | null)[]): void {
    const nameOf = (at: number): string => `mx${at}.${domain}`;
    this.#dns.set(domain, { MX: servers.map((_, at) => [at, nameOf(at)] as const) });
    for (const [at, server] of servers.entries()) {
      const entry: ZoneEntry = { A: [server?.settings.address ?? addressOf(NOBODY)] };
      this.#dns.set(nameOf(at), entry);
    }
  }
}

const NOBODY = 99;

function addressOf(at: number): string {
  return `127.0.0.${100 + at}`;
}
