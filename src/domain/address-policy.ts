import { MAX_ADDRESS_LENGTH, MAX_POLICY_ENTRIES } from '../contract/limits.js';
import { MAX_DOMAIN_LENGTH, normaliseDomain } from './addresses.js';
import { refuse } from './errors.js';

/**
 * Rules of an inbox: exact addresses and exact domains (wire contract 3.4 and 3.5). Local parts are compared
 * with their letter case, domains without; dots and `+tags` count, display names do not, and a domain does not
 * mean its subdomains. Entries are normalised once, when they are saved, and addresses in the same way when
 * they are held against them.
 */
export interface AddressPolicy {
  readonly enabled: boolean;
  /** As `normalisePolicyAddresses` gives them. */
  readonly addresses: readonly string[];
  /** As `normalisePolicyDomains` gives them. */
  readonly domains: readonly string[];
}

/** The list of addresses to save: domains in lower case and A-labels, each entry once, in the order given. */
export function normalisePolicyAddresses(entries: readonly string[]): readonly string[] {
  return normaliseEntries('addresses', entries, entry => {
    const place = placeOf(entry);
    if (place === null || place.address === null || place.address.length > MAX_ADDRESS_LENGTH) {
      return `is no email address.${entry.includes('@') ? '' : ' A whole domain belongs to the domains.'}`;
    }
    return { value: place.address };
  });
}

/** The list of domains to save: lower case, A-labels, each entry once, in the order given. */
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
 * Sending: the addresses that the policy does not allow, each once, as given. Enabled, it allows what matches an
 * entry; with no entries that is nothing.
 */
export function blockedRecipients(policy: AddressPolicy, addresses: readonly string[]): readonly string[] {
  if (!policy.enabled) return [];
  return [...new Set(addresses)].filter(address => !namesAny(policy, toSenders([address])));
}

/** The mailboxes of a From, groups included, in the form in which entries are held against them. */
export interface Senders {
  readonly addresses: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
}

/** Made once a message: a header may hold hundreds of mailboxes, and a message reach as many inboxes. */
export function toSenders(fromAddresses: readonly string[]): Senders {
  const places = fromAddresses.map(placeOf).filter(place => place !== null);
  return {
    addresses: new Set(places.map(place => place.address).filter(address => address !== null)),
    domains: new Set(places.map(place => place.domain)),
  };
}

/**
 * Receiving: does the policy refuse a message from these? Enabled, it does when one of them matches an entry;
 * with no entries none does.
 */
export function blocksSender(policy: AddressPolicy, senders: Senders): boolean {
  return policy.enabled && namesAny(policy, senders);
}

function namesAny(policy: AddressPolicy, { addresses, domains }: Senders): boolean {
  return (
    policy.addresses.some(address => addresses.has(address)) ||
    policy.domains.some(domain => domains.has(domain))
  );
}

interface Place {
  /** Null when the local part is none: a From may say anything, and its domain counts all the same. */
  readonly address: string | null;
  readonly domain: string;
}

function placeOf(address: string): Place | null {
  const at = address.lastIndexOf('@');
  const domain = at < 0 ? null : exactDomain(address.slice(at + 1));
  if (domain === null) return null;
  const localPart = exactLocalPart(address.slice(0, at));
  return { address: localPart === null ? null : `${localPart}@${domain}`, domain };
}

/** RFC 5322 section 3.2.3 with RFC 6532 section 3.2: what needs no quotes. */
const ATEXT = '[^\\s\\p{Cc}()<>[\\]:;@\\\\,."]+';
const DOT_ATOM = new RegExp(`^${ATEXT}(?:\\.${ATEXT})*$`, 'u');
const QUOTED_STRING = /^"((?:[^"\\\p{Cc}]|\\[^\p{Cc}])*)"$/u;

/** One spelling for each local part: quotes where they are needed only (RFC 5321 section 4.1.2). */
function exactLocalPart(text: string): string | null {
  if (DOT_ATOM.test(text)) return text.normalize('NFC');
  const quoted = QUOTED_STRING.exec(text)?.[1];
  if (quoted === undefined) return null;
  const content = quoted.replace(/\\(.)/gu, '$1').normalize('NFC');
  return DOT_ATOM.test(content) ? content : `"${content.replace(/["\\]/g, '\\$&')}"`;
}

/** With the underscore, which is no letter of a domain and in use all the same. */
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

function exactDomain(text: string): string | null {
  const domain = normaliseDomain(text);
  if (domain === null) return null;
  // The dot at the end says that the name is whole (RFC 1034 section 3.1): the same name.
  const name = domain.endsWith('.') ? domain.slice(0, -1) : domain;
  return name.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(name) ? name : null;
}

/** `normalise` gives the entry as it is saved, or what is wrong with it. */
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
