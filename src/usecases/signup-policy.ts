import { isEmailAddress } from '../domain/email-address.js';
import { type AccountRecord, findAccountByEmail } from '../store/accounts.js';
import type { ApprovalMethod } from '../store/approvals.js';
import type { Reader } from '../store/reader-writer.js';

/** Who may get access (decisions, Signup). */
export interface SignupPolicy {
  /** `closed`: who has an account; `domains`: and every address in `domains`; `open`: everybody. */
  readonly policy: 'closed' | 'domains' | 'open';
  /** Lower case, A-labels. */
  readonly domains: readonly string[];
  /** How a human shows that an address is theirs; links of another kind open nothing. */
  readonly proof: 'mail' | 'sign_in';
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
  if (method === 'console') return { email: account?.email ?? email, account };
  if (account !== null) return account.isOperator ? null : { email: account.email, account };
  return admitsStranger(policy, email) ? { email, account: null } : null;
}

function admitsStranger({ policy, domains }: SignupPolicy, email: string): boolean {
  switch (policy) {
    case 'closed':
      return false;
    case 'domains':
      return domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
    case 'open':
      return true;
  }
}
