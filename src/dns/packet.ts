import { isIPv4, isIPv6 } from 'node:net';
import packet from 'dns-packet';
import { foldAscii, MAX_DOMAIN_LENGTH } from '../domain/addresses.js';

/** What is asked for, and the form in which each record is answered. Names: lower case, no final dot. */
export interface DnsRecords {
  A: string;
  AAAA: string;
  /** The exchange is `""` for the root, which means that nobody takes mail (RFC 7505). */
  MX: { readonly preference: number; readonly exchange: string };
  PTR: string;
  /** RFC 6698 section 2.1. */
  TLSA: {
    readonly usage: number;
    readonly selector: number;
    readonly matchingType: number;
    readonly data: Uint8Array;
  };
  /** Its strings as one, a character a byte. */
  TXT: string;
}

export type DnsType = keyof DnsRecords;

/** A reply as far as it concerns us. */
export interface Reply {
  readonly code: string;
  /** Does the server say that it validated all of this (RFC 6840 section 5.8)? */
  readonly isAuthentic: boolean;
  readonly answers: readonly ReplyRecord[];
  /** Seconds for which it may be remembered that there is nothing (RFC 2308 section 5); null without an SOA. */
  readonly negativeTtlS: number | null;
}

export interface ReplyRecord {
  readonly name: string;
  readonly type: string;
  readonly ttlS: number;
  /** As the library gives it. */
  readonly data: unknown;
}

/** Largest reply over UDP: it passes every network in one piece (RFC 6891 section 6.2.5, DNS Flag Day 2020). */
const UDP_BYTES = 1232;

const LABEL = /^[a-z0-9_-]{1,63}$/;

/** Can there be such a name, of letters, digits, hyphens and underscores? In lower case, without a final dot. */
export function isName(name: string): boolean {
  return name.length <= MAX_DOMAIN_LENGTH && name.split('.').every(label => LABEL.test(label));
}

/** A question for a resolver: recursion is wanted, and the AD bit (RFC 6840 section 5.7). */
export function questionFor(id: number, name: string, type: DnsType): Buffer {
  return packet.encode({
    type: 'query',
    id,
    flags: packet.RECURSION_DESIRED | packet.AUTHENTIC_DATA,
    questions: [{ name, type, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_BYTES,
        flags: 0,
        extendedRcode: 0,
        ednsVersion: 0,
        flag_do: false,
        options: [],
      },
    ],
  });
}

/** Is it a reply with this id? Only that is worth to be read. */
export function isReplyTo(id: number, bytes: Buffer): boolean {
  return bytes.length >= 12 && bytes.readUInt16BE(0) === id && ((bytes[2] ?? 0) & 0x80) !== 0;
}

/** Did the reply not fit (the TC bit)? */
export function isCut(bytes: Buffer): boolean {
  return ((bytes[2] ?? 0) & 0x02) !== 0;
}

/**
 * What a reply says; null when it answers another question.
 * @throws when it cannot be read
 */
export function readReply(bytes: Buffer, name: string, type: DnsType): Reply | null {
  const { questions = [], answers = [], authorities = [], additionals = [], ...head } = packet.decode(bytes);
  const [question] = questions;
  // A server that refuses a form error may leave the question out; what it says then settles nothing.
  if (question === undefined || questions.length !== 1) return null;
  if (plainName(question.name) !== name || question.type !== type) return null;
  // The types of the library leave it out.
  const { rcode } = head as unknown as { readonly rcode: string };
  const records = answers.flatMap(toRecord);
  const soa = authorities.flatMap(toRecord).find(record => record.type === 'SOA');
  const minimum = (soa?.data as { minimum?: unknown } | undefined)?.minimum;
  return {
    // The higher bits of the code stand in the OPT record (RFC 6891 section 6.1.3).
    code: additionals.some(isFurtherCode) ? `${rcode}, extended` : rcode,
    isAuthentic: head.flag_ad,
    answers: records,
    negativeTtlS: soa === undefined || typeof minimum !== 'number' ? null : Math.min(soa.ttlS, minimum),
  };
}

function isFurtherCode(record: object): boolean {
  return 'extendedRcode' in record && record.extendedRcode !== 0;
}

function toRecord(record: object): ReplyRecord[] {
  const { name, type, class: of, ttl, data } = record as Record<string, unknown>;
  if (typeof name !== 'string' || typeof type !== 'string' || of !== 'IN') return [];
  // A TTL with its highest bit set is zero (RFC 2181 section 8).
  const ttlS = typeof ttl === 'number' && ttl < 2 ** 31 ? ttl : 0;
  return [{ name: plainName(name), type, ttlS, data }];
}

/** Lower case, without a final dot; the root is `""`. */
export function plainName(name: string): string {
  return foldAscii(name).replace(/\.$/, '');
}

type Reader<Type extends DnsType> = (data: unknown) => DnsRecords[Type] | null;

const readers: { readonly [Type in DnsType]: Reader<Type> } = {
  A: data => (typeof data === 'string' && isIPv4(data) ? data : null),
  AAAA: data => (typeof data === 'string' && isIPv6(data) ? data : null),
  MX: data => {
    const { preference, exchange } = data as Record<string, unknown>;
    return typeof preference === 'number' && typeof exchange === 'string'
      ? { preference, exchange: plainName(exchange) }
      : null;
  },
  PTR: data => (typeof data === 'string' ? plainName(data) : null),
  TLSA: data => {
    const { usage, selector, matchingType, certificate } = data as Record<string, unknown>;
    if (typeof usage !== 'number' || typeof selector !== 'number' || typeof matchingType !== 'number')
      return null;
    // A copy: the bytes are a part of the reply, which would be kept with them.
    return Buffer.isBuffer(certificate)
      ? { usage, selector, matchingType, data: Uint8Array.from(certificate) }
      : null;
  },
  TXT: data => {
    const strings = Array.isArray(data) ? data.filter(one => Buffer.isBuffer(one)) : [];
    return strings.length === 0 ? null : Buffer.concat(strings).toString('latin1');
  },
};

/** A record's data in our form; null when it is not of that form. */
export function readData<Type extends DnsType>(type: Type, data: unknown): DnsRecords[Type] | null {
  if (typeof data !== 'string' && (typeof data !== 'object' || data === null)) return null;
  return readers[type](data);
}
