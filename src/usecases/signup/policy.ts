import {
  domainOf,
  isEmailAddress,
  isInDomains,
  isSourceRouted,
  mayReachDomains,
} from '../../domain/addresses.js';
import { DAY_MS } from '../../domain/instants.js';
import type { Reader } from '../../store/engine/tables.js';
import { type AccountRecord, findAccountByEmail } from '../../store/records/accounts.js';
import type { ApprovalMethod } from '../../store/records/approvals.js';
import { inboxHas, inboxHasOrHad } from '../inbound/recipients.js';
import type { RateLimit } from '../ports.js';

/** Who may get access, and how they prove their address. */
export interface SignupPolicy {
  /** `closed`: who has an account; `domains`: and every address in `domains`; `open`: everybody. */
  readonly policy: 'closed' | 'domains' | 'open';
  /** Lower case, A-labels. */
  readonly domains: readonly string[];
  /** How a human shows that an address is theirs; links of another kind open nothing. */
  readonly proof: 'mail' | 'sign_in';
  /** Domains in which agents can make inboxes; lower case, A-labels. */
  readonly mailDomains: readonly string[];
  /** Is a sign-in taken with an address in one of these? */
  readonly takesOwnDomains: boolean;
}

/** What an email address that may be approved stands for. */
export interface Eligible {
  /** The account's own spelling where there is one: mail goes to that, not to what somebody typed. */
  readonly email: string;
  /** Null: one is made when the phrase is redeemed. */
  readonly account: AccountRecord | null;
}

/**
 * May this email address be approved, as things stand at this moment? Asked at every step anew. The operator's
 * built-in account is nobody's to ask for: only the console gives keys to it. What the console has approved needs
 * no policy.
 */
export function eligible(
  reader: Reader,
  policy: SignupPolicy,
  email: string,
  method: ApprovalMethod,
): Eligible | null {
  if (!isEmailAddress(email)) return null;
  const account = findAccountByEmail(reader, email) ?? null;
  if (account === null && inboxHas(reader, email)) return null;
  if (method === 'console') return { email: account?.email ?? email, account };
  if (!isProof(reader, policy, email, method)) return null;
  if (account !== null) return account.isOperator ? null : { email: account.email, account };
  return admitsStranger(policy, email) ? { email, account: null } : null;
}

/**
 * Does it show anything that somebody reads the mail to this address, or has signed in with it? Not where an agent can
 * read that mail: in one of our mail domains, where agents make inboxes, or with a local part that makes another host
 * send it on to there. A public provider verifies an address by a mail to it too, so a sign-in counts only if the operator
 * says so, and never with an address that an inbox has or had.
 */
function isProof(
  reader: Reader,
  { mailDomains, takesOwnDomains }: SignupPolicy,
  email: string,
  method: 'mail' | 'sign_in',
): boolean {
  if (!mayReachDomains(email, mailDomains)) return true;
  const isTaken = method === 'sign_in' && takesOwnDomains && isInDomains(email, mailDomains);
  return isTaken && !isSourceRouted(email) && !inboxHasOrHad(reader, email);
}

function admitsStranger({ policy, domains }: SignupPolicy, email: string): boolean {
  switch (policy) {
    case 'closed':
      return false;
    case 'domains':
      return domains.includes(domainOf(email));
    case 'open':
      return true;
  }
}

const MINUTE_MS = 60_000;

/** How long a mailed link may be opened. */
export const LINK_LIFETIME_MS = DAY_MS / 2;
/** How long a claim phrase may be redeemed. */
export const PHRASE_LIFETIME_MS = DAY_MS / 4;
/** Whoever presses Approve must have opened the link, or signed in, within this time. */
export const PRESS_WINDOW_MS = 15 * MINUTE_MS;

/** Rate limits of signup, approval and claims. A client address is an IPv4 address or an IPv6 /64 network. */
export const RATE_LIMITS = {
  /** `POST /v1/signups`, by client address. */
  signups: { name: 'signups', max: 10, windowMs: 60 * MINUTE_MS },
  /** `POST /v1/claims`, by client address. */
  claims: { name: 'claims', max: 10, windowMs: 15 * MINUTE_MS },
  /**
   * What a human's browser does on the way to an approval, by client address: it asks for a link, opens one, signs
   * in, approves. Pages that only say something do not count, so a whole journey is three, and three fit.
   */
  approvals: { name: 'approvals', max: 10, windowMs: 15 * MINUTE_MS },
  /** Links asked for, by email address, eligible or not: a limit for eligible ones alone would give them away. */
  links: { name: 'links', max: 3, windowMs: 60 * MINUTE_MS },
  /** Events of the audit trail that strangers can cause, all together: they must not flood it. */
  refusals: { name: 'refusals', max: 1_000, windowMs: 24 * 60 * MINUTE_MS },
} as const satisfies Record<string, RateLimit>;
