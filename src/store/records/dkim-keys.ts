import type { DkimAlgorithm, DkimPublicKey } from '../../domain/dkim.js';
import { joinKey, range, text, u8, WHOLE_TABLE } from '../engine/keys.js';
import { jsonValue, type Reader, type Table, type Writer, walkTable } from '../engine/tables.js';

interface DkimKeyFacts extends DkimPublicKey {
  /** Lower case, A-labels. */
  readonly domain: string;
  /** A DNS label; never used again in its domain, because resolvers remember what it stood for. */
  readonly selector: string;
  readonly createdAt: number;
}

/** The private key, PKCS #8 in DER and base64. Whoever has it can write mail in the name of the domain: never show it. */
interface WithPrivateKey {
  readonly privateKey: string;
}

/**
 * `new`: waits until its record was seen in the DNS. `active`: signs. `retired`: signs no more and has no private part,
 * but what it signed may still be on its way, so that its record stays published. `gone`: only its selector is kept.
 */
export type DkimKeyRecord = DkimKeyFacts &
  (
    | ({ readonly state: 'new' } & WithPrivateKey)
    | ({ readonly state: 'active'; readonly activeAt: number } & WithPrivateKey)
    | { readonly state: 'retired'; readonly retiredAt: number; readonly publishedUntil: number }
    | { readonly state: 'gone' }
  );

export type DkimKeyIn<State extends DkimKeyRecord['state']> = Extract<DkimKeyRecord, { state: State }>;

type DkimKeyName = Pick<DkimKeyRecord, 'domain' | 'selector'>;

/** [domain, selector] -> key. A few for each mail domain, and one more of each algorithm for each rotation. */
export const dkimKeysTable: Table<DkimKeyName, DkimKeyRecord> = {
  name: 'dkim_keys',
  encodeKey: ({ domain, selector }) => joinKey(domainPrefix(domain), text(selector)),
  ...jsonValue<DkimKeyRecord>(1),
};

/** No domain has a NUL, so that none is the beginning of another. */
function domainPrefix(domain: string): Buffer {
  return joinKey(text(domain), u8(0));
}

export function putDkimKey(writer: Writer, key: DkimKeyRecord): void {
  writer.put(dkimKeysTable, key, key);
}

/** The keys of a domain, or of all, by domain and selector. */
export function listDkimKeys(reader: Reader, domain: string | null = null): DkimKeyRecord[] {
  const keys = range(domain === null ? WHOLE_TABLE : domainPrefix(domain));
  return [...walkTable(reader, dkimKeysTable, keys)].map(({ value }) => value);
}

/** The key of this algorithm that signs for the domain. */
export function activeKey(
  keys: readonly DkimKeyRecord[],
  algorithm: DkimAlgorithm,
): DkimKeyIn<'active'> | undefined {
  return keys.find(
    (key): key is DkimKeyIn<'active'> => key.state === 'active' && key.algorithm === algorithm,
  );
}
