import { domainToASCII } from 'node:url';
import { fail, ok, type Result } from './errors.js';

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
export function normaliseLocalPart(text: string): Result<string> {
  const localPart = text.trim().toLowerCase();
  if (!LOCAL_PART.test(localPart)) {
    return fail(
      'invalid_local_part',
      'local_part must be 1 to 64 letters, digits, hyphens and underscores, and start and end with a letter or digit.',
    );
  }
  return ok(localPart);
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
