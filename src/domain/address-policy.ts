import { MAX_ADDRESS_LENGTH, MAX_POLICY_ENTRIES } from '../contract/limits.js';
import { isSourceRouted, MAX_DOMAIN_LENGTH, normaliseDomain } from './addresses.js';
import { refuse } from './errors.js';

/**
 * The sending or receiving policy of an inbox: exact addresses and exact domains. Letter case matters in local parts
 * and not in domains. Dots and `+tags` matter, display names do not, and a domain does not cover its subdomains.
 * Entries are normalised when they are saved; addresses are normalised alike before they are compared with them.
 */
export interface AddressPolicy {
  readonly enabled: boolean;
  /** Normalised by `normalisePolicyAddresses`. */
  readonly addresses: readonly string[];
  /** Normalised by `normalisePolicyDomains`. */
  readonly domains: readonly string[];
}

/**
 * The list of addresses to save: domains in lower case and as A-labels, each entry once, in the order given.
 * @throws `invalid_request`
 */
export function normalisePolicyAddresses(entries: readonly string[]): readonly string[] {
  return normaliseEntries('addresses', entries, entry => {
    const { address = null } = normaliseAddress(entry) ?? {};
    if (address === null || address.length > MAX_ADDRESS_LENGTH) {
      return `is no email address.${entry.includes('@') ? '' : ' A whole domain belongs to the domains.'}`;
    }
    return { value: address };
  });
}

/**
 * The list of domains to save: in lower case and as A-labels, each entry once, in the order given.
 * @throws `invalid_request`
 */
export function normalisePolicyDomains(entries: readonly string[]): readonly string[] {
  return normaliseEntries('domains', entries, entry => {
    if (entry.includes('@')) {
      return 'is no domain: write what stands behind the @. A single address belongs to the addresses.';
    }
    if (entry.includes('*')) return 'has a wildcard: rules have none. Name each subdomain that is meant.';
    const domain = exactDomain(entry);
    return domain === null ? 'is no domain name.' : { value: domain };
  });
}

/**
 * The recipients that a sending policy does not allow, each once, as given. When enabled, it allows only what matches
 * an entry, so without entries it allows nobody. A domain does not allow `user%host` or `host!user` in it: its server
 * may send such mail on to that other host. An entry that is the very address does.
 */
export function blockedRecipients(policy: AddressPolicy, addresses: readonly string[]): readonly string[] {
  if (!policy.enabled) return [];
  const addressesOnly = { ...policy, domains: [] };
  return [...new Set(addresses)].filter(
    address => !namesAny(isSourceRouted(address) ? addressesOnly : policy, toSenders([address])),
  );
}

/** The senders of a message, normalised like the entries of a policy. */
export interface Senders {
  readonly addresses: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
}

/**
 * Normalises the addresses of From. Call it once a message: a header may hold hundreds of addresses, and they are
 * checked for each inbox that the message is for.
 */
export function toSenders(fromAddresses: readonly string[]): Senders {
  const senders = fromAddresses.map(normaliseAddress).filter(sender => sender !== null);
  return {
    addresses: new Set(senders.map(({ address }) => address).filter(address => address !== null)),
    domains: new Set(senders.map(({ domain }) => domain)),
  };
}

/**
 * True when a receiving policy refuses a message from these senders: it is enabled, and one of them matches an entry.
 * Without entries it refuses nobody.
 */
export function blocksSender(policy: AddressPolicy, senders: Senders): boolean {
  return policy.enabled && namesAny(policy, senders);
}

/** Does an entry of the lists match one of these senders? */
export function namesAny(
  policy: Pick<AddressPolicy, 'addresses' | 'domains'>,
  { addresses, domains }: Senders,
): boolean {
  return (
    policy.addresses.some(address => addresses.has(address)) ||
    policy.domains.some(domain => domains.has(domain))
  );
}

interface NormalAddress {
  /** Null when the local part is not valid, as it may be in a From; the domain is compared all the same. */
  readonly address: string | null;
  readonly domain: string;
}

function normaliseAddress(address: string): NormalAddress | null {
  const at = address.lastIndexOf('@');
  const domain = at < 0 ? null : exactDomain(address.slice(at + 1));
  if (domain === null) return null;
  const localPart = exactLocalPart(address.slice(0, at));
  return { address: localPart === null ? null : `${localPart}@${domain}`, domain };
}

/** Characters that need no quotes (RFC 5322 section 3.2.3, RFC 6532 section 3.2). */
const ATEXT = '[^\\s\\p{Cc}()<>[\\]:;@\\\\,."]+';
const DOT_ATOM = new RegExp(`^${ATEXT}(?:\\.${ATEXT})*$`, 'u');
const QUOTED_STRING = /^"((?:[^"\\\p{Cc}]|\\[^\p{Cc}])*)"$/u;

/** The one spelling of a local part: quoted only where it has to be (RFC 5321 section 4.1.2). */
function exactLocalPart(text: string): string | null {
  if (DOT_ATOM.test(text)) return text.normalize('NFC');
  const quoted = QUOTED_STRING.exec(text)?.[1];
  if (quoted === undefined) return null;
  const content = quoted.replace(/\\(.)/gu, '$1').normalize('NFC');
  return DOT_ATOM.test(content) ? content : `"${content.replace(/["\\]/g, '\\$&')}"`;
}

/** Allows the underscore, which host names may not have but mail domains in use do. */
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

function exactDomain(text: string): string | null {
  const domain = normaliseDomain(text);
  if (domain === null) return null;
  // A dot at the end does not change the name (RFC 1034 section 3.1).
  const name = domain.endsWith('.') ? domain.slice(0, -1) : domain;
  return name.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(name) ? name : null;
}

/**
 * @param list the name of the list, for the refusal
 * @param normalise gives the entry to save, or as text what is wrong with it
 */
function normaliseEntries(
  list: string,
  entries: readonly string[],
  normalise: (entry: string) => { readonly value: string } | string,
): readonly string[] {
  const saved = new Set<string>();
  for (const entry of entries) {
    const normalised = normalise(entry.trim());
    if (typeof normalised === 'string') {
      throw refuse('invalid_request', `In ${list}: "${shown(entry)}" ${normalised} Nothing was saved.`);
    }
    saved.add(normalised.value);
  }
  if (saved.size > MAX_POLICY_ENTRIES) {
    throw refuse(
      'invalid_request',
      `In ${list}: ${saved.size} entries, and a list holds at most ${MAX_POLICY_ENTRIES}. Nothing was saved. A domain may stand for its addresses.`,
    );
  }
  return [...saved];
}

function shown(entry: string): string {
  return entry.length > MAX_ADDRESS_LENGTH ? `${entry.slice(0, MAX_ADDRESS_LENGTH)}...` : entry;
}
