/*
 * MTA-STS (RFC 8461): a domain says by HTTPS which mail servers it has, and that they are to be reached over TLS.
 */

/** A policy as it was published. */
export interface PublishedSts {
  readonly mode: 'enforce' | 'testing' | 'none';
  /** Names of mail servers, lower case; `*.` at the start stands for one label. */
  readonly mx: readonly string[];
  readonly maxAgeS: number;
}

/** A policy that is kept until it expires. */
export interface StsPolicy {
  /** Of the TXT record that announced it; another id announces another policy. */
  readonly id: string;
  readonly mode: PublishedSts['mode'];
  readonly mx: readonly string[];
  readonly fetchedAt: number;
  readonly expiresAt: number;
}

/** More than any domain has; a policy with more is not taken. */
const MAX_PATTERNS = 200;
/** RFC 8461 section 3.2: about one year. */
const MAX_AGE_S = 31_557_600;

const RECORD = /^v=STSv1[ \t]*;/;
const ID = /^[ \t]*id[ \t]*=[ \t]*([A-Za-z0-9]{1,32})[ \t]*$/;
const PATTERN = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?$/;

/** The id in the TXT records of `_mta-sts.DOMAIN` (section 3.1); null unless exactly one announces a policy. */
export function stsIdOf(records: readonly string[]): string | null {
  const [record, ...others] = records.filter(text => RECORD.test(text));
  if (record === undefined || others.length > 0) return null;
  const ids = record.split(';').flatMap(field => ID.exec(field)?.[1] ?? []);
  return ids[0] ?? null;
}

/** Reads a policy (section 3.2); null when it is not one. Fields that are not known are passed over. */
export function parseStsPolicy(text: string): PublishedSts | null {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^[ \t]*([A-Za-z0-9_.-]+)[ \t]*:[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    // Of a field that comes twice the first counts.
    if (name === 'mx') mx.push(value.toLowerCase());
    else if (name !== '' && !fields.has(name)) fields.set(name, value);
  }
  const mode = fields.get('mode');
  const age = fields.get('max_age') ?? '';
  if (fields.get('version') !== 'STSv1' || !/^\d{1,10}$/.test(age)) return null;
  if (!isMode(mode) || (mode !== 'none' && !areHosts(mx))) return null;
  return { mode, mx: mode === 'none' ? [] : mx, maxAgeS: Math.min(Number(age), MAX_AGE_S) };
}

function isMode(text: string | undefined): text is PublishedSts['mode'] {
  return text === 'enforce' || text === 'testing' || text === 'none';
}

function areHosts(mx: readonly string[]): boolean {
  return mx.length > 0 && mx.length <= MAX_PATTERNS && mx.every(one => PATTERN.test(one));
}

/** Is this a policy as it is kept: in force for a year at most, and of hosts that mail can go to? */
export function isSoundStsPolicy({ id, mode, mx, fetchedAt, expiresAt }: StsPolicy): boolean {
  const lifetimeMs = expiresAt - fetchedAt;
  return (
    /^[A-Za-z0-9]{1,32}$/.test(id) &&
    isMode(mode) &&
    (mode === 'none' ? mx.length === 0 : areHosts(mx)) &&
    lifetimeMs >= 0 &&
    lifetimeMs <= MAX_AGE_S * 1000
  );
}

/**
 * Is this mail server one of the policy (section 4.1)? A `*` stands for exactly one label.
 * @param host lower case, without a final dot
 */
export function coversHost({ mx }: Pick<StsPolicy, 'mx'>, host: string): boolean {
  const parent = host.slice(host.indexOf('.') + 1);
  return mx.some(pattern =>
    pattern.startsWith('*.') ? host.includes('.') && pattern.slice(2) === parent : pattern === host,
  );
}
