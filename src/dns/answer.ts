import { type DnsRecords, type DnsType, plainName, type Reply, readData } from './packet.js';

/** What the DNS says about a name and a type of records. */
export type DnsAnswer<Type extends DnsType> =
  | {
      readonly kind: 'found';
      /** Never empty. */
      readonly records: readonly DnsRecords[Type][];
      /** Where they are: the name that was asked for, or the one that it is an alias of (CNAME). */
      readonly name: string;
      /** A resolver that we trust has validated it (DNSSEC). */
      readonly isAuthentic: boolean;
    }
  /** The name is there, or one below it; such records are not. */
  | { readonly kind: 'none'; readonly isAuthentic: boolean }
  /** There is no such name (NXDOMAIN). */
  | { readonly kind: 'no_name'; readonly isAuthentic: boolean }
  /** It could not be found out. `reason` is for people. */
  | { readonly kind: 'failed'; readonly reason: string };

/** An answer and the seconds for which it holds; 0 when it must be asked for again. */
export interface LastingAnswer<Type extends DnsType> {
  readonly answer: DnsAnswer<Type>;
  readonly ttlS: number;
}

/** Aliases that are followed, within one reply. */
const MAX_ALIASES = 12;

/**
 * What a reply says about a name.
 * @param isTrusted whether the AD bit of this server counts
 */
export function answerOf<Type extends DnsType>(
  reply: Reply,
  name: string,
  type: Type,
  isTrusted: boolean,
): LastingAnswer<Type> {
  const isAuthentic = isTrusted && reply.isAuthentic;
  if (reply.code === 'NXDOMAIN') {
    return { answer: { kind: 'no_name', isAuthentic }, ttlS: reply.negativeTtlS ?? 0 };
  }
  if (reply.code !== 'NOERROR') return failed(`the resolver answered ${reply.code}`);
  const place = followAliases(reply, name);
  if (place === null) return failed('the aliases (CNAME) of the name have no end');
  const records: DnsRecords[Type][] = [];
  let { ttlS } = place;
  for (const record of reply.answers) {
    if (record.name !== place.name || record.type !== type) continue;
    const data = readData(type, record.data);
    if (data === null) return failed(`the ${type} record of the name cannot be read`);
    records.push(data);
    ttlS = Math.min(ttlS, record.ttlS);
  }
  return records.length > 0
    ? { answer: { kind: 'found', records, name: place.name, isAuthentic }, ttlS }
    : { answer: { kind: 'none', isAuthentic }, ttlS: Math.min(ttlS, reply.negativeTtlS ?? 0) };
}

/** The name at the end of the aliases, with the least TTL on the way; null when there are too many. */
function followAliases(reply: Reply, asked: string): { name: string; ttlS: number } | null {
  let name = asked;
  let ttlS = Number.POSITIVE_INFINITY;
  for (let followed = 0; followed <= MAX_ALIASES; followed++) {
    const alias = reply.answers.find(record => record.name === name && record.type === 'CNAME');
    if (alias === undefined || typeof alias.data !== 'string') return { name, ttlS };
    name = plainName(alias.data);
    ttlS = Math.min(ttlS, alias.ttlS);
  }
  return null;
}

function failed(reason: string): LastingAnswer<never> {
  return { answer: { kind: 'failed', reason }, ttlS: 0 };
}
