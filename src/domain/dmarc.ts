import type { DkimCheck, DmarcCheck, DmarcPolicy, SpfCheck } from './authentication.js';
import { readTags } from './tag-list.js';

/** What a domain asks for (RFC 7489 section 6.3). */
export interface DmarcRecord {
  /** One milder than published where the domain asks for that of only a part of its mail, or tries it out. */
  readonly policy: DmarcPolicy;
  /** Must domains be equal to be aligned? Else the organisational domains must be. */
  readonly isDkimStrict: boolean;
  readonly isSpfStrict: boolean;
}

/**
 * How far the policy of a domain was found out: `absent` where nothing looks like a record, so that the organisational
 * domain is asked; `unusable` where records are, and none can be followed: they are as none (RFC 7489 section 6.6.3).
 */
export type FoundRecord =
  | { readonly kind: 'record'; readonly record: DmarcRecord }
  | { readonly kind: 'absent' | 'unusable' | 'unreachable' };

const VERSION = /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/;
const POLICIES: readonly string[] = ['none', 'quarantine', 'reject'] satisfies readonly DmarcPolicy[];

/**
 * Reads the TXT records at `_dmarc` below a domain.
 * @param isOfSubdomain they are those of the organisational domain, and the address is in one below it
 */
export function readDmarcRecord(texts: readonly string[], isOfSubdomain: boolean): FoundRecord {
  const records = texts.filter(text => VERSION.test(text));
  const [text] = records;
  if (text === undefined) return { kind: 'absent' };
  const tags = records.length > 1 ? null : readTags(text);
  if (tags === null) return { kind: 'unusable' };
  const asked = tags.get(isOfSubdomain && tags.has('sp') ? 'sp' : 'p')?.toLowerCase();
  // Who wants reports means the record, though what it asks for cannot be read.
  const policy = asked !== undefined && isPolicy(asked) ? asked : tags.has('rua') ? 'none' : null;
  if (policy === null) return { kind: 'unusable' };
  const isDkimStrict = tags.get('adkim')?.toLowerCase() === 's';
  const isSpfStrict = tags.get('aspf')?.toLowerCase() === 's';
  return { kind: 'record', record: { policy: applied(policy, tags), isDkimStrict, isSpfStrict } };
}

const MILDER = { reject: 'quarantine', quarantine: 'none', none: 'none' } as const;

/**
 * Of a part of the mail (`pct`), the policy holds for messages that are drawn by lot; for the others it is the next milder
 * one (RFC 7489 section 6.6.4). A lot that changes with each attempt would only delay mail: here none is drawn, so it is
 * always the milder one, as it is where a domain tries its policy out (`t=y`).
 */
function applied(policy: DmarcPolicy, tags: ReadonlyMap<string, string>): DmarcPolicy {
  const isForPart = /^\d{1,2}$/.test(tags.get('pct') ?? '100');
  const isTrial = tags.get('t')?.toLowerCase() === 'y';
  return isForPart || isTrial ? MILDER[policy] : policy;
}

function isPolicy(text: string): text is DmarcPolicy {
  return POLICIES.includes(text);
}

/**
 * Is a domain aligned with that of From (RFC 7489 section 3.1)?
 * @param organisational the organisational domain of a domain
 */
export function isAligned(
  domain: string,
  fromDomain: string,
  isStrict: boolean,
  organisational: (domain: string) => string,
): boolean {
  if (domain === fromDomain) return true;
  return !isStrict && organisational(domain) === organisational(fromDomain);
}

/**
 * DMARC's answer (RFC 7489 section 6.6.2): does anything that passes stand for a domain that is aligned? Where that
 * cannot be told, because something aligned could not be looked up, it is a temporary error.
 */
export function evaluateDmarc(
  found: FoundRecord,
  spf: Pick<SpfCheck, 'result' | 'aligned'>,
  dkim: readonly Pick<DkimCheck, 'result' | 'aligned'>[],
): DmarcCheck {
  if (found.kind === 'unreachable') return { result: 'temperror', policy: null, aligned_by: [] };
  const spfPasses = spf.aligned && spf.result === 'pass';
  const dkimPasses = dkim.some(({ result, aligned }) => aligned && result === 'pass');
  const aligned_by = [...(spfPasses ? (['spf'] as const) : []), ...(dkimPasses ? (['dkim'] as const) : [])];
  if (found.kind !== 'record') return { result: 'none', policy: null, aligned_by };
  const { policy } = found.record;
  if (aligned_by.length > 0) return { result: 'pass', policy, aligned_by };
  const isOpen = [spf, ...dkim].some(({ result, aligned }) => aligned && result === 'temperror');
  return { result: isOpen ? 'temperror' : 'fail', policy, aligned_by };
}
