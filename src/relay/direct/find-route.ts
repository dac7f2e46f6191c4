import { isIPv6 } from 'node:net';
import type { Dns } from '../../dns/dns-client.js';
import { isName } from '../../dns/packet.js';
import { coversHost, type StsPolicy } from '../../domain/mta-sts.js';
import { isSameAddress, type Reach } from '../../domain/networks.js';
import { reasonOf, within } from '../../lib/async.js';
import { type FoundHost, findHost, type NamedHost, shuffled } from './find-host.js';
import { Ipv6Use, type Ipv6Wanted, isListenedAt, type ListenPlace } from './own-addresses.js';
import type { MailHost, Route, RouteFinder, TlsDemand } from './route.js';

/** Besides `dns`, `reach`, `policies` and `listens`: the keys of `[relay.direct]`. */
export interface DirectRoutesOptions {
  readonly dns: Dns;
  /** Which addresses mail may lead to. */
  readonly reach: Reach;
  /** Of MTA-STS. */
  readonly policies: {
    policyOf(domain: string): Promise<StsPolicy | null>;
    keptFor(domain: string): StsPolicy | null;
  };
  /** Our own name, as other servers know it (`mail.hostname`). */
  readonly hostname: string;
  /** Every place where we take mail now. */
  readonly listens: () => readonly ListenPlace[];
  /** Port of the mail servers of others. */
  readonly port: number;
  readonly tls: Extract<TlsDemand, 'opportunistic' | 'require'>;
  readonly ipv6: 'auto' | 'on' | 'off';
  readonly sourceAddress: readonly string[];
  /** For a route as a whole; by default `DEADLINE_MS`. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 30_000;
/** Of the hosts of a domain, those of the lowest preference numbers. */
const MAX_HOSTS = 10;
/** Addresses of all hosts of a route. */
const MAX_ADDRESSES = 20;

/** What the MX records of a domain come to. */
type Named = { readonly kind: 'hosts'; readonly hosts: readonly NamedHost[] } | NoRoute;

type NoRoute = Exclude<Route, { readonly kind: 'hosts' }>;

/**
 * Finds the mail servers of domains (RFC 5321 section 5.1). What is definite ends the delivery; what could not be found
 * out is for later. A host that is ourselves takes itself out and all that are not nearer to the destination.
 *
 * The package `mx-connect` 1.6 does this work too and is not used. Its resolvers (`dnsOptions.resolve`,
 * `dane.resolveTlsa`) give records without the AD bit, so it would go by TLSA records that nobody has validated (RFC 7672
 * section 2.2), and has no chain to check a trust anchor with; its policies of MTA-STS are fetched from any address,
 * private ones included.
 */
export class DirectRoutes implements RouteFinder {
  readonly #options: DirectRoutesOptions;
  readonly #ipv6: Ipv6Use;

  constructor(options: DirectRoutesOptions) {
    this.#options = options;
    const { dns, ipv6: mode, sourceAddress } = options;
    this.#ipv6 = new Ipv6Use({ mode, source: sourceAddress.find(isIPv6) ?? null, dns });
  }

  async find(domain: string): Promise<Route> {
    const endsAt = performance.now() + (this.#options.deadlineMs ?? DEADLINE_MS);
    try {
      const route = await within(endsAt - performance.now(), this.#find(domain, endsAt));
      return route ?? later('4.4.3', `the mail servers of ${domain} were not found in time`);
    } catch (error) {
      return later('4.3.0', `looking for the mail servers of ${domain} failed: ${reasonOf(error)}`);
    }
  }

  async #find(domain: string, endsAt: number): Promise<Route> {
    const policy = this.#policyOf(domain, endsAt);
    const named = await this.#nameHosts(domain);
    if (named.kind !== 'hosts') return named;
    const ipv6 = await this.#ipv6.isWanted();
    const tried = named.hosts.slice(0, MAX_HOSTS);
    const found = await Promise.all(tried.map(host => this.#findHost(host, ipv6)));
    return this.#choose(domain, tried, found, await policy);
  }

  /** A policy host that is slow to answer must not hold up mail: then what is kept holds. */
  async #policyOf(domain: string, endsAt: number): Promise<StsPolicy | null> {
    const { policies } = this.#options;
    // Half of what is left: it is waited for last.
    const policy = await within((endsAt - performance.now()) / 2, policies.policyOf(domain));
    return policy ?? policies.keptFor(domain);
  }

  /** The hosts that the DNS names, by preference, equal ones in random order. */
  async #nameHosts(domain: string): Promise<Named> {
    const mx = await this.#options.dns.lookup(domain, 'MX');
    switch (mx.kind) {
      case 'failed':
        return later('4.4.3', `${domain}: ${mx.reason}`);
      case 'no_name':
        return none('5.1.2', `there is no domain ${domain}`);
      case 'none':
        // Without MX records the domain is its own mail server.
        return { kind: 'hosts', hosts: [{ name: domain, preference: 0, isAuthentic: mx.isAuthentic }] };
      case 'found': {
        if (mx.records.every(({ exchange }) => exchange === '')) {
          return none('5.1.10', `${domain} takes no mail (null MX)`);
        }
        const named = mx.records.filter(({ exchange }) => isName(exchange));
        if (named.length === 0) return none('5.4.4', `the MX records of ${domain} name no host`);
        const hosts = new Map<string, NamedHost>();
        const ordered = shuffled(named).sort((one, other) => one.preference - other.preference);
        for (const { exchange: name, preference } of ordered) {
          if (!hosts.has(name)) hosts.set(name, { name, preference, isAuthentic: mx.isAuthentic });
        }
        return { kind: 'hosts', hosts: [...hosts.values()] };
      }
    }
  }

  #findHost(named: NamedHost, ipv6: Ipv6Wanted): Promise<FoundHost> {
    const { dns, reach, port, hostname } = this.#options;
    if (named.name === hostname) return Promise.resolve({ kind: 'ours' });
    return findHost({ dns, reach, port, isOurs: address => this.#isOurs(address) }, named, ipv6);
  }

  /** An address is ours when we listen there, or when our name has it: it may be that of a router before us. */
  async #isOurs(address: string): Promise<boolean> {
    const { dns, hostname, listens, port } = this.#options;
    const places = listens().filter(place => place.port === port);
    if (places.length === 0) return false;
    for (const place of places) if (await isListenedAt(place, address)) return true;
    const ours = await dns.lookup(hostname, isIPv6(address) ? 'AAAA' : 'A');
    return ours.kind === 'found' && ours.records.some(one => isSameAddress(one, address));
  }

  #choose(
    domain: string,
    named: readonly NamedHost[],
    found: readonly FoundHost[],
    policy: StsPolicy | null,
  ): Route {
    const ours = named.filter((_, at) => found[at]?.kind === 'ours').map(({ preference }) => preference);
    const nearer = found.filter((_, at) => (named[at]?.preference ?? 0) < Math.min(...ours));
    if (nearer.length === 0) {
      return none('5.4.6', `the mail servers of ${domain} lead back to this server, which does not serve it`);
    }
    const usable = nearer.flatMap(one => (one.kind === 'usable' ? [one.host] : []));
    if (usable.length === 0) return unusable(domain, nearer);
    const isEnforced = policy?.mode === 'enforce';
    const covered = isEnforced ? usable.filter(host => coversHost(policy, host.name)) : usable;
    if (covered.length === 0) {
      return later('4.7.5', `no mail server of ${domain} is one that its MTA-STS policy names`);
    }
    return { kind: 'hosts', hosts: bounded(covered), tls: isEnforced ? 'verify' : this.#options.tls };
  }
}

/** As many addresses as are tried, from the first host on. */
function bounded(hosts: readonly MailHost[]): MailHost[] {
  let left = MAX_ADDRESSES;
  return hosts.flatMap(host => {
    const addresses = host.addresses.slice(0, left);
    left -= addresses.length;
    return addresses.length > 0 ? { ...host, addresses } : [];
  });
}

function unusable(domain: string, found: readonly FoundHost[]): Route {
  const waiting = found.find(one => one.kind === 'later');
  if (waiting?.kind === 'later') return later('4.4.3', waiting.why);
  const [first] = found;
  const why = first?.kind === 'unusable' ? first.why : 'none has an address';
  return none('5.4.4', `no mail server of ${domain} can be reached: ${why}`);
}

function none(code: string, detail: string): NoRoute {
  return { kind: 'none', code, detail };
}

function later(code: string, detail: string): NoRoute {
  return { kind: 'later', code, detail };
}
