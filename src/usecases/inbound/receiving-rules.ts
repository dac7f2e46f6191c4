import { blocksSender, type Senders, toSenders } from '../../domain/address-policy.js';
import type { Authentication } from '../../domain/authentication.js';
import { admitsSender, isRefusedByItsDomain, proofOf } from '../../domain/author-rules.js';
import type { MailReport } from '../../domain/delivery-reports.js';
import type { InboxId } from '../../domain/ids.js';
import type { Reader } from '../../store/engine/tables.js';
import { getPolicy, type PolicyRecord } from '../../store/records/inboxes.js';
import type { AcceptOutcome, ResolvedRecipient } from '../ports.js';
import { reportsOnSentMail } from './note-report.js';

/** What the operator does about mail whose author is not proven. */
export interface InboundRules {
  readonly unauthenticated: 'accept' | 'reject';
  /** Domains whose ARC chains are believed; lower case, A-labels. */
  readonly trustedSealers: readonly string[];
}

/** The receiving rules that have a say about an envelope. */
export type ReceivingRules = ReadonlyMap<InboxId, PolicyRecord>;

/**
 * The rules of the recipients' inboxes as they are in this snapshot. Mostly there are none: then nobody needs
 * to know the sender, and the look costs a key an inbox. Mail to a role address is always taken, whichever
 * inbox it reaches: a domain has to answer for itself even to those it does not listen to (RFC 5321 section
 * 4.5.1).
 */
export function receivingRules(reader: Reader, recipients: readonly ResolvedRecipient[]): ReceivingRules {
  const rules = new Map<InboxId, PolicyRecord>();
  for (const { inboxId, isRole } of recipients) {
    if (isRole || rules.has(inboxId)) continue;
    const policy = getPolicy(reader, inboxId, 'receiving');
    const blocks = policy.enabled && policy.addresses.length + policy.domains.length > 0;
    if (blocks || policy.requirement != null) rules.set(inboxId, policy);
  }
  return rules;
}

/** What was found out about a message before it is stored. */
export interface AuthorFinding {
  readonly authentication: Authentication;
  /** What it reports; null as well where nobody had to know. */
  readonly report: MailReport | null;
}

/** What rules go by. */
export interface Arrival {
  readonly recipients: readonly ResolvedRecipient[];
  /** Those of From. */
  readonly fromAddresses: readonly string[];
  /** Reverse-path; `""` for the null sender. */
  readonly sender: string;
  /** From an inbox of this box, or with the null sender from the service itself: From is ours, and needs no proof. */
  readonly isLocal: boolean;
  /** Null: not looked for yet. */
  readonly finding: AuthorFinding | null;
}

export type Decision =
  /** These take it; the others refuse it, and get no copy by the acceptance. */
  | { readonly status: 'take'; readonly recipients: readonly ResolvedRecipient[] }
  /** Rules need to know who has written it. `mayReport`: and whether it reports on a message from here. */
  | { readonly status: 'unchecked'; readonly mayReport: boolean }
  | Extract<AcceptOutcome, { readonly status: 'blocked' | 'unproven' | 'refused_by_domain' | 'check_later' }>;

type Ruling = 'take' | 'unchecked' | 'blocked' | 'unproven' | 'refused_by_domain' | 'check_later';

/**
 * Who takes a message. One reply stands for all recipients (RFC 5321 has none for each after DATA). It is a refusal when
 * nobody takes the message, and else an acceptance. Where one cannot tell yet, all are to be asked again: an acceptance
 * would lose the message for that one, a refusal for those who take it.
 */
export function decide(
  reader: Reader,
  rules: ReceivingRules,
  inbound: InboundRules,
  arrival: Arrival,
): Decision {
  const { recipients, finding } = arrival;
  if (rules.size === 0 && (arrival.isLocal || inbound.unauthenticated === 'accept')) {
    return { status: 'take', recipients };
  }
  const senders = toSenders(arrival.fromAddresses);
  const rulings = recipients.map(recipient => ruling(reader, rules, inbound, arrival, senders, recipient));
  if (rulings.includes('unchecked')) {
    const hasRequirement = [...rules.values()].some(({ requirement }) => requirement != null);
    return { status: 'unchecked', mayReport: hasRequirement && arrival.sender === '' };
  }
  if (rulings.includes('check_later')) return { status: 'check_later' };
  const taking = recipients.filter((_, place) => rulings[place] === 'take');
  if (taking.length > 0) return { status: 'take', recipients: taking };
  if (rulings.includes('refused_by_domain')) {
    return { status: 'refused_by_domain', domain: finding?.authentication.from_domain ?? null };
  }
  return { status: rulings.includes('unproven') ? 'unproven' : 'blocked' };
}

function ruling(
  reader: Reader,
  rules: ReceivingRules,
  inbound: InboundRules,
  arrival: Arrival,
  senders: Senders,
  { inboxId, isRole }: ResolvedRecipient,
): Ruling {
  if (isRole) return 'take';
  const policy = rules.get(inboxId);
  if (policy !== undefined && blocksSender(policy, senders)) return 'blocked';
  const { sender, isLocal, finding } = arrival;
  const requirement = policy?.requirement ?? null;
  const isAdmitted = requirement === null || admitsSender(requirement, senders);
  // The null sender is that of the service, of reports and their like.
  if (!isAdmitted && sender !== '') return 'unproven';
  if (isLocal) return 'take';
  const isJudged = inbound.unauthenticated === 'reject';
  if (requirement === null && !isJudged) return 'take';
  if (finding === null) return 'unchecked';
  const { authentication, report } = finding;
  if (isJudged && isRefusedByItsDomain(authentication, inbound.trustedSealers)) return 'refused_by_domain';
  if (requirement === null) return 'take';
  if (report !== null && reportsOnSentMail(reader, inboxId, report)) return 'take';
  if (!isAdmitted) return 'unproven';
  const proof = proofOf(authentication);
  return proof === 'proven' ? 'take' : proof === 'later' ? 'check_later' : 'unproven';
}
