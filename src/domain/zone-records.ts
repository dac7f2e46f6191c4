import { isIPv4 } from 'node:net';
import { dkimRecordName } from './dkim.js';
import { reverseName } from './networks.js';

/** A DKIM key as it is published (RFC 6376 section 3.6.2). */
export interface DkimRecord {
  readonly selector: string;
  readonly domain: string;
  /** The text of the TXT record. */
  readonly record: string;
}

/** What the records of the server are made of. */
export interface HostFacts {
  /** Name of this server. */
  readonly hostname: string;
  /** Addresses of this server, as far as it knows them itself. */
  readonly addresses: readonly string[];
  /** How mail leaves (`relay.transport`). */
  readonly transport: string;
  /** Our mail domains. */
  readonly mailDomains: readonly string[];
}

/** What the records of a mail domain are made of. */
export interface ZoneFacts extends HostFacts {
  readonly domain: string;
  /** Of this domain. */
  readonly dkim: readonly DkimRecord[];
}

export type RecordKind = 'mx' | 'address' | 'spf' | 'helo_spf' | 'dkim' | 'dmarc' | 'tls_reporting' | 'ptr';

/** A record as it should be. */
export interface ZoneRecord {
  readonly kind: RecordKind;
  /** Without a final dot. */
  readonly name: string;
  readonly type: 'MX' | 'A' | 'AAAA' | 'TXT' | 'PTR';
  /** As in a zone, but names without a final dot, and the text of TXT without quotes. */
  readonly value: string;
  /** Without it mail is not received, or is refused by many. */
  readonly isEssential: boolean;
}

const MX_PREFERENCE = 10;
const TTL_S = 3600;

/** The records of the server itself; its PTR records are set by whoever gave it its addresses. */
export function hostRecords({ hostname, addresses, transport, mailDomains }: HostFacts) {
  const own = addresses.map(
    (address): ZoneRecord => ({
      kind: 'address',
      name: hostname,
      type: isIPv4(address) ? 'A' : 'AAAA',
      value: address,
      isEssential: true,
    }),
  );
  const ptr = addresses.map(
    (address): ZoneRecord => ({
      kind: 'ptr',
      name: reverseName(address),
      type: 'PTR',
      value: hostname,
      isEssential: false,
    }),
  );
  // Notices have no sender, so that receivers look at the name in EHLO (RFC 7208 section 2.4). Where that is a mail
  // domain, too, it has the record of that: of two, receivers take none (section 4.5).
  const helo = mailDomains.includes(hostname) ? [] : [text('helo_spf', hostname, 'v=spf1 a -all', false)];
  return transport === 'direct' ? [...own, ...helo, ...ptr] : own;
}

/** The records of a mail domain. */
export function domainRecords({ domain, hostname, dkim, transport }: ZoneFacts): readonly ZoneRecord[] {
  const isDirect = transport === 'direct';
  const reports = `rua=mailto:postmaster@${domain}`;
  return [
    { kind: 'mx', name: domain, type: 'MX', value: `${MX_PREFERENCE} ${hostname}`, isEssential: true },
    text('spf', domain, `v=spf1 a:${hostname} ~all`, isDirect),
    ...dkim.map(key => text('dkim', dkimRecordName(domain, key.selector), key.record, isDirect)),
    text('dmarc', `_dmarc.${domain}`, `v=DMARC1; p=quarantine; ${reports}`, false),
    text('tls_reporting', `_smtp._tls.${domain}`, `v=TLSRPTv1; ${reports}`, false),
  ];
}

function text(kind: RecordKind, name: string, value: string, isEssential: boolean): ZoneRecord {
  return { kind, name, type: 'TXT', value, isEssential };
}

/** A record as a line of a zone file (RFC 1035 section 5.1). */
export function zoneLine({ name, type, value }: Pick<ZoneRecord, 'name' | 'type' | 'value'>): string {
  return `${name}. ${TTL_S} IN ${type} ${type === 'TXT' ? quoted(value) : dotted(type, value)}`;
}

function dotted(type: ZoneRecord['type'], value: string): string {
  return type === 'MX' || type === 'PTR' ? `${value}.` : value;
}

/** A TXT record holds strings of at most 255 characters, which count as one (RFC 6376 section 3.6.2.2). */
function quoted(value: string): string {
  const strings = value.match(/[\s\S]{1,255}/g) ?? [''];
  return strings.map(one => `"${one.replace(/["\\]/g, character => `\\${character}`)}"`).join(' ');
}
