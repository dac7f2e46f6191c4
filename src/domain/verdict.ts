import type { ParsedAddress } from '../contract/messages.js';
import { isEmailAddress, normaliseDomain } from './addresses.js';
import type {
  ArcCheck,
  Authentication,
  DkimCheck,
  DmarcCheck,
  IprevCheck,
  SpfCheck,
  Verdict,
} from './authentication.js';
import { type DmarcRecord, evaluateDmarc, type FoundRecord, isAligned } from './dmarc.js';

/** The one author of a message, or why nobody can be named. */
export type Author =
  | { readonly domain: string }
  /** `claimed`: the domains that From names all the same; null where it has more, or more bytes, than are read. */
  | { readonly fault: string; readonly claimed: readonly string[] | null };

/** Domains in From that are asked for their policy. */
const MAX_CLAIMED = 10;

/** What was read of From, each by a reader of its own. */
export interface FromReadings {
  /** As the content shows it. */
  readonly shown: ParsedAddress | null;
  /** How many From fields there are. */
  readonly fields: number;
  /** Every address in them: by the reader of the content, and by another. */
  readonly addresses: readonly string[];
  readonly otherwise: readonly string[];
}

/**
 * Whose word the verdict is about: the address that the content shows, where nobody can read another one or several
 * (RFC 7489 section 6.6.1). A message with two would show one and be proven by the other.
 */
export function authorOf({ shown, fields, addresses, otherwise }: FromReadings): Author {
  const claimed = claimedDomains([...addresses, ...otherwise]);
  const faulty = (fault: string): Author => ({ fault, claimed });
  if (fields === 0) return faulty('the message has no From');
  if (fields > 1) return faulty('the message has more than one From');
  const [address = '', ...rest] = addresses;
  if (rest.length > 0) return faulty('From has more than one address');
  const domain = usableDomain(address);
  // Behind a second @, quoted or not, the first one looks like the domain.
  const isPlain = address.indexOf('@') === address.lastIndexOf('@');
  if (domain === null || !isPlain) return faulty('From has no address that can be used');
  const isShown = shown !== null && 'address' in shown && shown.address === address;
  const isReadAlike = otherwise.length === 1 && otherwise.every(other => isSameMailbox(other, address));
  return isShown && isReadAlike ? { domain } : faulty('From can be read in more than one way');
}

/** What stands behind the last @, lower case and A-labels; null where no address may have it. */
function usableDomain(address: string): string | null {
  const domain = normaliseDomain(address.slice(address.lastIndexOf('@') + 1))?.replace(/\.$/, '');
  return domain === undefined || !isEmailAddress(`a@${domain}`) ? null : domain;
}

function claimedDomains(addresses: readonly string[]): readonly string[] | null {
  const domains = new Set<string>();
  for (const address of addresses) {
    const domain = usableDomain(address);
    if (domain !== null) domains.add(domain);
    if (domains.size > MAX_CLAIMED) return null;
  }
  return [...domains];
}

function isSameMailbox(one: string, other: string): boolean {
  return plainMailbox(one) === plainMailbox(other);
}

/** Without the quotes and quoted pairs of a local part (RFC 5321 section 4.1.2). */
function plainMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  const local = address.slice(0, Math.max(at, 0)).replace(/^"(.*)"$/s, '$1');
  return `${local.replaceAll(/\\(.)/gs, '$1')}@${normaliseDomain(domain) ?? domain}`;
}

/** What was found out about a message, before it is set against the author. */
export interface Findings {
  readonly spf: Omit<SpfCheck, 'aligned'>;
  readonly dkim: readonly Omit<DkimCheck, 'aligned'>[];
  readonly arc: ArcCheck;
  readonly iprev: IprevCheck;
  /** Of the author's domain; where nobody can be named, of each that is claimed. */
  readonly records: readonly PublishedRecord[];
}

export interface PublishedRecord {
  readonly domain: string;
  readonly record: FoundRecord;
}

/**
 * Draws the conclusion.
 * @param organisational the organisational domain of a domain (RFC 7489 section 3.2)
 */
export function concludeAuthentication(
  author: Author,
  { spf, dkim, arc, iprev, records }: Findings,
  organisational: (domain: string) => string,
): Authentication {
  /** What is aligned with a domain, by the rules that it publishes. */
  const setAgainst = ({ domain, record }: PublishedRecord) => {
    const rules: Partial<DmarcRecord> = record.kind === 'record' ? record.record : {};
    const isOf = (one: string | null, isStrict = false): boolean =>
      one !== null && isAligned(one, domain, isStrict, organisational);
    const checked = dkim.map(one => withAligned(one, isOf(one.domain, rules.isDkimStrict)));
    const sender = { result: spf.result, domain: spf.domain, aligned: isOf(spf.domain, rules.isSpfStrict) };
    return { checked, sender, dmarc: evaluateDmarc(record, sender, checked) };
  };
  if ('fault' in author) {
    const failed = records.map(one => setAgainst(one).dmarc).filter(({ result }) => result === 'fail');
    const policy = author.claimed === null ? 'reject' : strictest(failed);
    return {
      verdict: 'fail',
      reason: `${author.fault}, so nobody can be named as its author.`,
      from_domain: null,
      spf: { result: spf.result, domain: spf.domain, aligned: false },
      dkim: dkim.map(one => withAligned(one, false)),
      dmarc: { result: 'permerror', policy, aligned_by: [] },
      local: false,
      arc,
      iprev,
    };
  }
  const { domain } = author;
  const [record = { domain, record: { kind: 'unreachable' } as const }] = records;
  const { checked, sender, dmarc } = setAgainst(record);
  const shownSpf = {
    result: spf.result,
    domain: spf.domain,
    aligned: sender.aligned && spf.result === 'pass',
  };
  const reason = reasonOf(domain, dmarc, checked, shownSpf);
  return {
    verdict: verdictOf(dmarc),
    reason,
    from_domain: domain,
    spf: shownSpf,
    dkim: checked,
    dmarc,
    local: false,
    arc,
    iprev,
  };
}

function withAligned(
  { domain, selector, algorithm, result }: Omit<DkimCheck, 'aligned'>,
  aligned: boolean,
): DkimCheck {
  return { domain, selector, algorithm, result, aligned };
}

/** Of the domains that a From names, those that fail decide (RFC 7489 section 6.6.1). */
function strictest(failed: readonly DmarcCheck[]): DmarcCheck['policy'] {
  const policies = failed.map(({ policy }) => policy);
  return (['reject', 'quarantine', 'none'] as const).find(policy => policies.includes(policy)) ?? null;
}

/** DMARC's answer in one word. */
function verdictOf({ result }: DmarcCheck): Verdict {
  return result === 'temperror' ? 'unknown' : result === 'permerror' ? 'fail' : result;
}

/** Why, for humans. A domain has at most 253 characters, and a reason 200. */
function reasonOf(fromDomain: string, dmarc: DmarcCheck, dkim: readonly DkimCheck[], spf: SpfCheck): string {
  const name = shortened(fromDomain);
  const proof = proofOf(dkim, spf);
  switch (dmarc.result) {
    case 'pass':
      return `${proof}.`;
    case 'none':
      return proof === null
        ? `${name} publishes no DMARC policy, and nothing else speaks for it.`
        : `${name} publishes no DMARC policy; ${proof}.`;
    case 'temperror':
      return `the DNS did not answer in time, or not all that was asked about ${name}.`;
    default:
      return `neither a signature nor the client speaks for ${name}, whose policy is ${dmarc.policy ?? 'none'}.`;
  }
}

function proofOf(dkim: readonly DkimCheck[], spf: SpfCheck): string | null {
  const signer = dkim.find(({ result, aligned }) => aligned && result === 'pass');
  if (signer !== undefined) return `signed by ${shortened(signer.domain)}`;
  return spf.aligned && spf.domain !== null ? `sent by a server of ${shortened(spf.domain)} (SPF)` : null;
}

const LONGEST_SHOWN = 80;

function shortened(domain: string): string {
  return domain.length <= LONGEST_SHOWN ? domain : `...${domain.slice(-LONGEST_SHOWN)}`;
}

/** What is said of a message that nobody has looked at, or not to the end. */
export function unknownAuthentication(reason: string): Authentication {
  return {
    verdict: 'unknown',
    reason,
    local: false,
    from_domain: null,
    spf: { result: 'temperror', domain: null, aligned: false },
    dkim: [],
    dmarc: { result: 'temperror', policy: null, aligned_by: [] },
    arc: { result: 'none', sealer: null, trusted: false, dmarc: null },
    iprev: { result: 'temperror', name: null },
  };
}
