import net from 'node:net';
import { domainToASCII } from 'node:url';
import { MAX_ADDRESS_LENGTH } from '../contract/limits.js';
import type { ParsedAddress, ReceivedContent } from '../contract/messages.js';
import { refuse } from './errors.js';
import { lineFaultOf, trimmed } from './text.js';

/** Prefixes that no account may take (decisions, Inboxes; wire contract 3.2). */
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

/** Trims, lowercases and checks an address prefix (wire contract, CreateInbox). */
export function normaliseLocalPart(text: string): string {
  const localPart = text.trim().toLowerCase();
  if (!LOCAL_PART.test(localPart)) {
    throw refuse(
      'invalid_local_part',
      'local_part must be 1 to 64 letters, digits, hyphens and underscores, and start and end with a letter or digit.',
    );
  }
  return localPart;
}

/** `extra` comes from the configuration, in lower case. */
export function isReservedLocalPart(localPart: string, extra: readonly string[]): boolean {
  return RESERVED.has(localPart) || localPart.startsWith(RESERVED_PREFIX) || extra.includes(localPart);
}

/** Local parts that every domain that receives mail must serve (RFC 5321 section 4.5.1, RFC 2142). */
export function isRoleLocalPart(localPart: string): boolean {
  return localPart === 'postmaster' || localPart === 'abuse';
}

export interface MailboxAddress {
  /** Lower case, without a `+tag`. */
  readonly localPart: string;
  /** Lower case, A-labels. */
  readonly domain: string;
}

/** Of a whole domain name, in A-labels and without a dot at its end (RFC 1035 section 2.3.4, less the root). */
export const MAX_DOMAIN_LENGTH = 253;

/**
 * The mailbox that a recipient address means to us: letter case does not matter, `local+tag` reaches
 * `local`, U-labels equal their A-labels. Null when it is no address.
 */
export function toMailboxAddress(address: string): MailboxAddress | null {
  const at = address.lastIndexOf('@');
  if (at < 1 || at === address.length - 1) return null;
  const domain = normaliseDomain(address.slice(at + 1));
  if (domain === null) return null;
  const local = address.slice(0, at).toLowerCase();
  const plus = local.indexOf('+');
  return { localPart: plus > 0 ? local.slice(0, plus) : local, domain };
}

const PLAIN_DOMAIN = /^[a-z0-9.-]+$/;
/** Of ASCII only what names have: `domainToASCII` reads a URL, and would drop a path and resolve escapes. */
const MAY_BE_DOMAIN = /^[a-z0-9._\-\u{80}-\u{10ffff}]+$/u;

/** Lower case, A-labels; null when that cannot be had. Whether an ASCII name is a domain is not checked. */
export function normaliseDomain(text: string): string | null {
  const lower = text.toLowerCase();
  if (PLAIN_DOMAIN.test(lower)) return lower;
  const ascii = MAY_BE_DOMAIN.test(lower) ? domainToASCII(lower) : '';
  return ascii === '' ? null : ascii;
}

/**
 * A bare ASCII email address: at most 254 characters, local part at most 64, a dot-atom before the `@` and
 * a domain of letters, digits and hyphens after it (RFC 5321 section 4.1.2, RFC 5322 section 3.4.1).
 */
const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const ADDRESS = new RegExp(`^${ATEXT}+(?:\\.${ATEXT}+)*@${LABEL}(?:\\.${LABEL})*$`);

export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && text.lastIndexOf('@') <= 64 && ADDRESS.test(text);
}

/** Longest reason, in UTF-8 bytes after trimming. */
const MAX_REASON_BYTES = 512;

/**
 * An address as the suppression list knows it: lower case as a whole, A-labels. Almost every host ignores the
 * letter case of local parts, so another spelling would reach whoever must not be reached. Null when it is no
 * address that mail could be sent to.
 */
export function toSuppressedAddress(text: string): string | null {
  const lower = text.trim().toLowerCase();
  const at = lower.lastIndexOf('@');
  const domain = normaliseDomain(lower.slice(at + 1));
  const address = `${lower.slice(0, at + 1)}${domain ?? ''}`;
  return isEmailAddress(address) ? address : null;
}

/** Why an address is suppressed, for the admin: trimmed; blank and absent mean no reason. */
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

/** Mailboxes of From: what a search by sender finds. */
export function sendersOf({ from }: Pick<ReceivedContent, 'from'>): string[] {
  return searchable([from]);
}

/** Mailboxes of To, Cc and Bcc: what a search by recipient finds. */
export function recipientsOf({ to, cc, bcc }: Pick<ReceivedContent, 'to' | 'cc' | 'bcc'>): string[] {
  return searchable([...to, ...cc, ...bcc]);
}

/** Addresses of one message that searches find; a header with more is a mailing gone wrong. */
const MAX_SEARCHABLE = 1_000;

/** Members of groups included; lower case, each once. */
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

/** As a configuration writes hosts, and as `URL` does: that one puts an IPv6 address into brackets. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

/**
 * Is this host the machine itself? 127.0.0.0/8, ::1 and the name for them (RFC 6761 section 6.3): what is sent there
 * never leaves it.
 * @param host a name or an address, in lower case
 */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * What counts as one client: an IPv4 address, mapped into IPv6 or not (RFC 4291 section 2.5.5.2), or an
 * IPv6 /64, the smallest network one customer gets (RFC 6177).
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [bare = ''] = address.split('%');
  if (!net.isIPv6(bare)) return address;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const behind = tail === '' ? [] : tail.split(':');
    // A dotted quad at the end stands for two groups.
    const width = behind.length + (tail.includes('.') ? 1 : 0);
    while (groups.length + width < 8) groups.push('0');
    groups.push(...behind);
  }
  const prefix = groups.slice(0, 4).map(group => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(':')}::/64`;
}
