import { isIP, isIPv4 } from 'node:net';
import type { DnsAnswer } from '../../dns/answer.js';
import type { Dns } from '../../dns/dns-client.js';
import { lookUpReverse } from '../../dns/reverse.js';
import { saysSameKey } from '../../domain/dkim.js';
import { inNetworks, isSameAddress, reverseName } from '../../domain/networks.js';
import { readTags } from '../../domain/tag-list.js';
import {
  domainRecords,
  type HostFacts,
  hostRecords,
  type ZoneFacts,
  type ZoneRecord,
} from '../../domain/zone-records.js';

/** A record as it should be, and what the DNS has in its place. */
export interface RecordCheck {
  readonly record: ZoneRecord;
  /** `unknown`: it cannot be told from here. `failed`: it could not be looked up; `note` says why. */
  readonly status: 'right' | 'missing' | 'different' | 'unknown' | 'failed';
  readonly found: readonly string[];
  /** What to know besides; null mostly. */
  readonly note: string | null;
}

type Verdict = Omit<RecordCheck, 'record'>;

/** Looks up the records of the server. Where it does not know its addresses, those of its name are taken. */
export async function checkHost(dns: Dns, facts: HostFacts): Promise<RecordCheck[]> {
  const { hostname } = facts;
  const answers = await Promise.all([dns.lookup(hostname, 'A'), dns.lookup(hostname, 'AAAA')]);
  const found = answers.flatMap(answer => (answer.kind === 'found' ? answer.records : []));
  if (facts.addresses.length > 0 || found.length > 0) {
    const addresses = facts.addresses.length > 0 ? facts.addresses : found;
    return checkAll(dns, hostRecords({ ...facts, addresses }), { ...facts, addresses });
  }
  const record: ZoneRecord = {
    kind: 'address',
    name: hostname,
    type: 'A',
    value: 'the public address of this machine',
    isEssential: true,
  };
  const failure = answers.find(answer => answer.kind === 'failed');
  return [{ record, ...(failure === undefined ? missing() : failed(failure)) }];
}

/** Looks up the records of a mail domain. */
export function checkDomain(dns: Dns, facts: ZoneFacts): Promise<RecordCheck[]> {
  return checkAll(dns, domainRecords(facts), facts);
}

function checkAll(dns: Dns, records: readonly ZoneRecord[], facts: HostFacts): Promise<RecordCheck[]> {
  return Promise.all(records.map(async record => ({ record, ...(await check(dns, record, facts)) })));
}

async function check(dns: Dns, record: ZoneRecord, facts: HostFacts): Promise<Verdict> {
  switch (record.type) {
    case 'PTR':
      return checkPtr(dns, record, facts);
    case 'MX': {
      const answer = await dns.lookup(record.name, 'MX');
      if (answer.kind !== 'found') return absent(answer);
      const found = answer.records.map(({ preference, exchange }) => `${preference} ${exchange || '.'}`);
      const isThere = answer.records.some(({ exchange }) => exchange === facts.hostname);
      return isThere ? right(found) : different(found);
    }
    case 'A':
    case 'AAAA': {
      const answer = await dns.lookup(record.name, record.type);
      if (answer.kind !== 'found') return absent(answer);
      const isThere = answer.records.some(address => isSameAddress(address, record.value));
      return isThere ? right(answer.records) : different(answer.records);
    }
    case 'TXT':
      return checkText(record, await dns.lookup(record.name, 'TXT'), facts);
  }
}

async function checkPtr(dns: Dns, record: ZoneRecord, facts: HostFacts): Promise<Verdict> {
  const address = facts.addresses.find(one => reverseName(one) === record.name);
  if (address === undefined) return missing();
  const reverse = await lookUpReverse(dns, address);
  switch (reverse.kind) {
    case 'failed':
      return failed(reverse);
    case 'confirmed': {
      const found = [reverse.name];
      if (reverse.name === facts.hostname) return right(found);
      return different(found, `${reverse.name} has this address, which does for most receivers`);
    }
    case 'unconfirmed':
      return reverse.names.length === 0
        ? missing()
        : different(reverse.names, `none of these names has the address ${address}`);
  }
}

function checkText(record: ZoneRecord, answer: DnsAnswer<'TXT'>, facts: HostFacts): Verdict {
  if (answer.kind !== 'found') return absent(answer);
  const version = /^v=\w+/.exec(record.value)?.[0] ?? '';
  // Other services keep their own records under the name of a domain.
  const own = answer.records.filter(text => isOfKind(record, version, text));
  const [only, ...others] = own;
  if (only === undefined) return missing();
  if (others.length > 0) return different(own, 'there is more than one, and receivers take none of them');
  return { ...judge(record, only, facts), found: own };
}

function isOfKind({ kind }: ZoneRecord, version: string, text: string): boolean {
  // The version of a DKIM key may be left out (RFC 6376 section 3.6.1).
  return kind === 'dkim' || (text.startsWith(version) && /^(?:[\s;]|$)/.test(text.slice(version.length)));
}

function judge(record: ZoneRecord, found: string, facts: HostFacts): Verdict {
  const { kind, name, value } = record;
  if (found === value) return right([]);
  if (kind === 'dkim') return saysSameKey(found, value) ? right([]) : different([]);
  if (kind === 'dmarc' || kind === 'tls_reporting') return judgeTags(kind, found);
  return judgeSpf(name, found, facts);
}

function judgeTags(kind: 'dmarc' | 'tls_reporting', found: string): Verdict {
  const tags = readTags(found);
  if (tags === null)
    return different([], 'a tag is there twice or cannot be read, and receivers take none of it');
  const isRight =
    kind === 'dmarc' ? /^(?:none|quarantine|reject)$/i.test(tags.get('p') ?? '') : tags.has('rua');
  return isRight ? right([]) : different([]);
}

/** Does an SPF record name us (RFC 7208 section 5)? What it includes is not followed. */
function judgeSpf(name: string, found: string, { hostname, addresses, transport }: HostFacts): Verdict {
  const terms = found.toLowerCase().split(/\s+/).slice(1);
  const passes = terms.map(term => term.replace(/^\+/, ''));
  const isListed = inNetworks(passes.flatMap(networkOf));
  // Without a name, a term is about the domain itself; its MX record is checked by itself.
  const names = [name === hostname ? 'a' : 'mx', `a:${hostname}`, `mx:${name}`];
  if (passes.some(term => names.includes(term))) return right([]);
  if (addresses.length > 0 && addresses.every(isListed)) return right([]);
  const isElsewhere = passes.some(term => /^(?:include:|redirect=|exists:)/.test(term));
  if (isElsewhere || transport !== 'direct') {
    return { status: 'unknown', found: [], note: 'what it includes is not followed' };
  }
  return different([], 'it does not name this server');
}

/** The network of a term `ip4:` or `ip6:`; none when it is not one. */
function networkOf(term: string): string[] {
  const [, network = ''] = /^ip[46]:(.+)$/.exec(term) ?? [];
  const [address = '', length = '0', ...rest] = network.split('/');
  const longest = isIPv4(address) ? 32 : 128;
  const isNetwork = isIP(address) !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= longest;
  return isNetwork && rest.length === 0 ? [network] : [];
}

function right(found: readonly string[]): Verdict {
  return { status: 'right', found, note: null };
}

function missing(): Verdict {
  return { status: 'missing', found: [], note: null };
}

function different(found: readonly string[], note: string | null = null): Verdict {
  return { status: 'different', found, note };
}

function failed({ reason }: { readonly reason: string }): Verdict {
  return { status: 'failed', found: [], note: reason };
}

/** Is something wrong without which mail is not received, or is refused by many? */
export function isWrong({ record, status }: RecordCheck): boolean {
  return record.isEssential && ['missing', 'different', 'failed'].includes(status);
}

function absent(
  answer: { readonly kind: 'none' | 'no_name' } | { readonly kind: 'failed'; readonly reason: string },
) {
  return answer.kind === 'failed' ? failed(answer) : missing();
}
