import type { DnsAnswer } from '../../dns/answer.js';
import type { Dns } from '../../dns/dns-client.js';
import type { Reach } from '../../domain/networks.js';
import type { Ipv6Wanted } from './own-addresses.js';
import type { MailHost, TlsaRecord } from './route.js';

export interface FindHostDeps {
  readonly dns: Dns;
  readonly reach: Reach;
  /** Port of mail servers, which names the TLSA records. */
  readonly port: number;
  readonly isOurs: (address: string) => Promise<boolean>;
}

/** A host that a domain names, before it was looked up. */
export interface NamedHost {
  readonly name: string;
  readonly preference: number;
  /** The records that name it were validated. */
  readonly isAuthentic: boolean;
}

export type FoundHost =
  | { readonly kind: 'usable'; readonly host: MailHost }
  /** It is this server. */
  | { readonly kind: 'ours' }
  /** It has no address that can be used: definite. `why` is a clause. */
  | { readonly kind: 'unusable'; readonly why: string }
  /** It could not be found out now. */
  | { readonly kind: 'later'; readonly why: string };

/** Addresses of one host that are tried. */
const MAX_ADDRESSES = 6;

/** The addresses of a mail server, and the TLSA records that bind it (RFC 7672 section 2.2). */
export async function findHost(deps: FindHostDeps, named: NamedHost, ipv6: Ipv6Wanted): Promise<FoundHost> {
  const { dns } = deps;
  const { name } = named;
  const [a, aaaa] = await Promise.all([
    dns.lookup(name, 'A'),
    ipv6 === 'yes' ? dns.lookup(name, 'AAAA') : null,
  ]);
  const found = alternate(shuffled(recordsOf(aaaa)), shuffled(recordsOf(a)));
  const areOurs = await Promise.all(found.slice(0, MAX_LOOKED_AT).map(address => deps.isOurs(address)));
  if (areOurs.includes(true)) return { kind: 'ours' };
  const addresses = found.filter(address => deps.reach.faultOf(address) === null).slice(0, MAX_ADDRESSES);
  if (addresses.length === 0) {
    const isUnsure = ipv6 === 'unsure' && (await mayHaveIpv6(dns, name));
    return isUnsure
      ? {
          kind: 'later',
          why: `${name} may have to be reached over IPv6: whether our name confirms that is not known`,
        }
      : withoutAddress(deps, name, found, [a, aaaa]);
  }
  const dane = named.isAuthentic ? await findTlsa(deps, name, [a, aaaa]) : null;
  if (dane === 'failed') return { kind: 'later', why: `the TLSA records of ${name} could not be looked up` };
  const host: MailHost = {
    name,
    preference: named.preference,
    addresses: addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
    dane,
  };
  return { kind: 'usable', host };
}

/** Addresses of one host that are looked at, to see whether it is us. */
const MAX_LOOKED_AT = 50;

/** Only that there is none is definite. */
async function mayHaveIpv6(dns: Dns, name: string): Promise<boolean> {
  const { kind } = await dns.lookup(name, 'AAAA');
  return kind === 'found' || kind === 'failed';
}

type Answers = readonly [DnsAnswer<'A'>, DnsAnswer<'AAAA'> | null];

function withoutAddress(
  { reach }: FindHostDeps,
  name: string,
  found: readonly string[],
  answers: Answers,
): FoundHost {
  const [refused] = found;
  for (const answer of answers) {
    if (answer?.kind === 'failed') return { kind: 'later', why: `${name}: ${answer.reason}` };
  }
  if (refused !== undefined) {
    return { kind: 'unusable', why: `${refused} of ${name} ${reach.faultOf(refused) ?? ''}` };
  }
  return { kind: 'unusable', why: `${name} has no ${answers[1] === null ? 'IPv4 ' : ''}address` };
}

/**
 * The TLSA records of a host. Null unless its addresses and the records came validated: then there is no DANE. A failure
 * must not pass for their absence, or whoever causes it would turn DANE off (RFC 7672 section 2.1.2).
 */
async function findTlsa(
  { dns, port }: FindHostDeps,
  name: string,
  answers: Answers,
): Promise<readonly TlsaRecord[] | null | 'failed'> {
  const found = answers.flatMap(answer => (answer?.kind === 'found' ? [answer] : []));
  if (!found.every(answer => answer.isAuthentic)) return null;
  // They stand at the name that an alias leads to, or else at the alias (section 2.2.2).
  const places = new Set([...found.map(answer => answer.name).slice(0, 1), name]);
  for (const place of places) {
    const tlsa = await dns.lookup(`_${port}._tcp.${place}`, 'TLSA');
    if (tlsa.kind === 'failed') return 'failed';
    if (tlsa.kind === 'found' && tlsa.isAuthentic) return tlsa.records;
  }
  return null;
}

function recordsOf(answer: DnsAnswer<'A' | 'AAAA'> | null): readonly string[] {
  return answer?.kind === 'found' ? answer.records : [];
}

/** One of each in turn, so that a family that leads nowhere costs one try. */
function alternate(one: readonly string[], other: readonly string[]): string[] {
  const longer = Math.max(one.length, other.length);
  return Array.from({ length: longer }).flatMap((_, at) => [one[at], other[at]].flatMap(item => item ?? []));
}

/** In random order. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map(item => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
