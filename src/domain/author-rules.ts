import { namesAny, type Senders } from './address-policy.js';
import type { Authentication } from './authentication.js';

/*
 * What is refused for what was found out about its author: by the wish of the domain in From, where the operator follows
 * it, and by inboxes that take mail of proven authors only.
 */

/** An inbox takes mail only if its author is proven and, where lists are given, in one of them. */
export interface AuthorRequirement {
  /** Normalised by `normalisePolicyAddresses`. */
  readonly addresses: readonly string[];
  /** Normalised by `normalisePolicyDomains`; both lists empty: whoever it is. */
  readonly domains: readonly string[];
}

/** Does the requirement let in mail from these senders, once that is proven? */
export function admitsSender(requirement: AuthorRequirement, senders: Senders): boolean {
  const entries = requirement.addresses.length + requirement.domains.length;
  return entries === 0 || namesAny(requirement, senders);
}

/** Is the author of a message proven? `later`: the DNS may say so another time. */
export type Proof = 'proven' | 'unproven' | 'later';

/**
 * A domain that publishes no policy is proven by what would be aligned with one: many publish none. Where a look-up of
 * that failed, nothing is said against the author.
 */
export function proofOf({ verdict, spf, dkim, dmarc }: Authentication): Proof {
  if (verdict === 'pass') return 'proven';
  if (verdict === 'unknown') return 'later';
  if (verdict === 'fail') return 'unproven';
  if (dmarc.aligned_by.length > 0) return 'proven';
  const isOpen = spf.result === 'temperror' || dkim.some(one => one.aligned && one.result === 'temperror');
  return isOpen ? 'later' : 'unproven';
}

/**
 * Does the domain in From ask for this message to be refused (RFC 7489 section 6.3, `p=reject`)? Not where a mailing list
 * or a forwarder that the operator trusts says that it passed when it came there (RFC 8617 section 7.2.1); nor while the
 * DNS does not tell whether it was one.
 * @param trustedSealers domains whose chains the operator believes; lower case, A-labels
 */
export function isRefusedByItsDomain(
  { dmarc, arc }: Authentication,
  trustedSealers: readonly string[],
): boolean {
  // An author that cannot be named is no way around: then it is the strictest policy of the domains in From.
  const fails = dmarc.result === 'fail' || dmarc.result === 'permerror';
  if (!fails || dmarc.policy !== 'reject') return false;
  const mayBeTrusted =
    arc.result === 'temperror' && arc.sealer !== null && trustedSealers.includes(arc.sealer);
  return !((arc.trusted || mayBeTrusted) && arc.dmarc === 'pass');
}
