import net from 'node:net';
import { domainToASCII } from 'node:url';
import { MAX_ADDRESS_LENGTH } from '../contract/limits.js';
import type { ParsedAddress, ReceivedContent } from '../contract/messages.js';
import { refuse } from './errors.js';
import { ipv6Groups } from './networks.js';
import { lineFaultOf, trimmed } from './text.js';

/** Local parts that no account may take: roles of a mail domain, senders of automatic mail, and reserved names. */
const RESERVED = new Set([
  'postmaster',
  'abuse',
  'hostmaster',
  'webmaster',
  'mailer-daemon',
  'root',
  'noreply',
  'no-reply',
  'hello',
  'test',
  'reviewer_chatgpt',
]);
const RESERVED_PREFIX = 'reviewer_chatgpt_';

const LOCAL_PART = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

/**
 * Folds the letter case of ASCII letters only. `toLowerCase` makes ASCII letters of others too (U+212A KELVIN SIGN
 * becomes `k`), so that two local parts would reach one inbox.
 */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}

/**
 * Trims, lowercases and checks the local part of a new inbox (`createInbox`).
 * @throws `invalid_local_part`
 */
export function normaliseLocalPart(text: string): string {
  const localPart = foldAscii(text.trim());
  if (!LOCAL_PART.test(localPart)) {
    throw refuse(
      'invalid_local_part',
      'local_part must be 1 to 64 letters, digits, hyphens and underscores, and start and end with a letter or digit.',
    );
  }
  return localPart;
}

/** @param extra the configuration key `mail.reserved_local_parts`, in lower case */
export function isReservedLocalPart(localPart: string, extra: readonly string[]): boolean {
  return RESERVED.has(localPart) || localPart.startsWith(RESERVED_PREFIX) || extra.includes(localPart);
}

/** Local parts that every domain that receives mail must serve (RFC 5321 section 4.5.1, RFC 2142). */
export function isRoleLocalPart(localPart: string): boolean {
  return localPart === 'postmaster' || localPart === 'abuse';
}

/** Does a recipient address stand for a role and not for an inbox? */
export function isRoleAddress(address: string): boolean {
  return isBarePostmaster(address) || isRoleLocalPart(toInboxAddress(address)?.localPart ?? '');
}

/** `postmaster` without a domain means ours (RFC 5321 section 4.5.1). */
export function isBarePostmaster(address: string): boolean {
  return address.toLowerCase() === 'postmaster';
}

/** The address of an inbox, in the one form in which addresses are looked up. */
export interface InboxAddress {
  /** Lower case, without a `+tag`. */
  readonly localPart: string;
  /** Lower case, A-labels. */
  readonly domain: string;
}

/** Characters of a domain name in A-labels, without a dot at its end (RFC 1035 section 2.3.4, less the root). */
export const MAX_DOMAIN_LENGTH = 253;

/**
 * The inbox address that mail to `address` is for: letter case does not matter, `local+tag` means `local`, and U-labels
 * equal their A-labels. Null when it is not an address. Whether there is such an inbox is not looked up.
 */
export function toInboxAddress(address: string): InboxAddress | null {
  const at = address.lastIndexOf('@');
  if (at < 1 || at === address.length - 1) return null;
  const domain = normaliseDomain(address.slice(at + 1));
  if (domain === null) return null;
  const local = foldAscii(address.slice(0, at));
  const plus = local.indexOf('+');
  return { localPart: plus > 0 ? local.slice(0, plus) : local, domain };
}

/** What stands behind the last @ of an address, in lower case. */
export function domainOf(address: string): string {
  return foldAscii(address.slice(address.lastIndexOf('@') + 1));
}

/**
 * Is the address in one of these domains, however it is written: letter case, U-labels and a dot at the end of the
 * domain (RFC 1034 section 3.1) do not matter? A domain does not cover its subdomains.
 * @param domains lower case, A-labels
 */
export function isInDomains(address: string, domains: readonly string[]): boolean {
  const domain = toInboxAddress(address)?.domain.replace(/\.$/, '');
  return domain !== undefined && domains.includes(domain);
}

/**
 * Does the local part name another host, as `user%host` or `host!user`? Some hosts send such mail on to there
 * (RFC 5321 appendix F.2, RFC 1123 section 5.2.16), so the domain after the @ does not tell who gets it.
 */
export function isSourceRouted(address: string): boolean {
  return /[%!]/.test(address.slice(0, Math.max(0, address.lastIndexOf('@'))));
}

/** May mail to this address end up in one of these domains: is it in one, or does its local part route it to one? */
export function mayReachDomains(address: string, domains: readonly string[]): boolean {
  if (isInDomains(address, domains)) return true;
  const lower = address.toLowerCase();
  return isSourceRouted(address) && domains.some(domain => lower.includes(domain));
}

const PLAIN_DOMAIN = /^[a-z0-9.-]+$/;
/** Of ASCII only characters of names: `domainToASCII` parses a URL, so it would drop a path and decode escapes. */
const MAY_BE_DOMAIN = /^[a-z0-9._\-\u{80}-\u{10ffff}]+$/u;

/** A domain in lower case and A-labels; null when it cannot be converted. The syntax of ASCII names is not checked. */
export function normaliseDomain(text: string): string | null {
  const lower = text.toLowerCase();
  if (PLAIN_DOMAIN.test(lower)) return lower;
  const ascii = MAY_BE_DOMAIN.test(lower) ? domainToASCII(lower) : '';
  return ascii === '' ? null : ascii;
}

/** Letters, digits, the other characters of an atom (RFC 5322 section 3.2.3), and dots. */
const LOCAL = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}";
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const ADDRESS = new RegExp(`^${LOCAL}@${LABEL}(?:\\.${LABEL})*$`);

/**
 * True for a bare ASCII email address of at most `MAX_ADDRESS_LENGTH` characters: a local part of at most 64 and a domain
 * (RFC 5321 section 4.1.2). Two things are taken that the grammar forbids and mailboxes have: dots anywhere in the local
 * part (Japanese carriers gave such addresses out), and underscores in the domain.
 */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && ADDRESS.test(text);
}

/** A quoted local part without quoted pairs (RFC 5321 section 4.1.2). */
const QUOTED_LOCAL = /^"([^"\\]*)"$/;

/**
 * An address from a header in the form in which mail can be sent to it: a domain in U-labels becomes its A-labels, and
 * quotes that the local part does not need are taken off. Null when there is none, as for a quoted local part with a
 * space, an address literal, or a local part outside ASCII.
 */
export function toSendableAddress(address: string): string | null {
  if (isEmailAddress(address)) return address;
  const at = address.lastIndexOf('@');
  const domain = normaliseDomain(address.slice(at + 1));
  const local = address.slice(0, Math.max(at, 0)).replace(QUOTED_LOCAL, '$1');
  const sendable = `${local}@${domain ?? ''}`;
  return isEmailAddress(sendable) ? sendable : null;
}

/** Longest reason, in UTF-8 bytes after trimming. */
const MAX_REASON_BYTES = 512;

/**
 * An address as the suppression list keeps it: all in lower case, the domain in A-labels. Almost every host ignores
 * letter case in local parts, so another spelling would still reach a suppressed recipient. Null when mail cannot be
 * sent to it.
 */
export function toSuppressedAddress(text: string): string | null {
  const lower = foldAscii(text.trim());
  const at = lower.lastIndexOf('@');
  const domain = normaliseDomain(lower.slice(at + 1));
  const address = `${lower.slice(0, at + 1)}${domain ?? ''}`;
  return isEmailAddress(address) ? address : null;
}

/**
 * The reason why an address is suppressed, trimmed; null when it is blank or absent.
 * @throws `invalid_request`
 */
export function normaliseReason(text: string | undefined): string | null {
  const reason = trimmed(text);
  const fault = reason === null ? null : lineFaultOf(reason, MAX_REASON_BYTES);
  if (fault === 'too_long') {
    throw refuse('invalid_request', `A reason may have at most ${MAX_REASON_BYTES} bytes of UTF-8.`);
  }
  if (fault !== null) {
    throw refuse(
      'invalid_request',
      'A reason must be well-formed Unicode in one line, without control characters.',
    );
  }
  return reason;
}

/** Addresses of From, for the search by sender. */
export function sendersOf({ from }: Pick<ReceivedContent, 'from'>): string[] {
  return searchable([from]);
}

/** Addresses of To, Cc and Bcc, for the search by recipient. */
export function recipientsOf({ to, cc, bcc }: Pick<ReceivedContent, 'to' | 'cc' | 'bcc'>): string[] {
  return searchable([...to, ...cc, ...bcc]);
}

/** Addresses that are indexed of one message; only a mailing gone wrong has more. */
const MAX_SEARCHABLE = 1_000;

/** In lower case, each once; groups give their members. */
function searchable(header: readonly (ParsedAddress | null)[]): string[] {
  const addresses = new Set<string>();
  for (const entry of header) {
    if (entry === null) continue;
    for (const { address } of 'group' in entry ? entry.group : [entry]) {
      if (address !== '' && addresses.size < MAX_SEARCHABLE) addresses.add(address.toLowerCase());
    }
  }
  return [...addresses];
}

/** IPv6 addresses with and without brackets: `URL` writes them with, a configuration file without. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

/**
 * True for this machine itself: 127.0.0.0/8, ::1 and `localhost` (RFC 6761 section 6.3). What is sent there never
 * leaves the machine.
 * @param host a name or an address, in lower case
 */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * The network that limits count as one client: an IPv4 address, mapped into IPv6 or not (RFC 4291 section 2.5.5.2),
 * or an IPv6 /64, the smallest network that a customer gets (RFC 6177).
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [bare = ''] = address.split('%');
  if (!net.isIPv6(bare)) return address;
  const prefix = ipv6Groups(bare)
    .slice(0, 4)
    .map(group => group.toString(16));
  return `${prefix.join(':')}::/64`;
}

/** The networks by which a client is counted. */
export interface ClientNetworks {
  /** `clientNetwork` of its address. */
  readonly host: string;
  /**
   * What one party may hold as a whole: an IPv4 /24, the smallest network that is routed, or an IPv6 /48, which a site
   * is given and has 65,536 /64s (RFC 6177). An address of this machine stands for itself.
   */
  readonly site: string;
}

export function clientNetworks(address: string): ClientNetworks {
  const host = clientNetwork(address);
  if (host.includes(':')) return { host, site: `${host.split(':').slice(0, 3).join(':')}::/48` };
  if (isLoopback(host)) return { host, site: host };
  return { host, site: `${host.slice(0, host.lastIndexOf('.'))}.0/24` };
}
