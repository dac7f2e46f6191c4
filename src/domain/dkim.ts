import { readTags } from './tag-list.js';

/** How a DKIM key signs (RFC 6376 section 3.3.2, RFC 8463). */
export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256';

/** Every message is signed with one key of each. */
export const DKIM_ALGORITHMS: readonly DkimAlgorithm[] = ['rsa-sha256', 'ed25519-sha256'];

/** What the DNS has to say of a key. */
export interface DkimPublicKey {
  readonly algorithm: DkimAlgorithm;
  /** In base64: SubjectPublicKeyInfo of an RSA key, the 32 bytes of an Ed25519 key (RFC 8463 section 4). */
  readonly publicKey: string;
}

const KEY_TYPES: Readonly<Record<DkimAlgorithm, string>> = {
  'rsa-sha256': 'rsa',
  'ed25519-sha256': 'ed25519',
};

/** Where the record of a key is looked for (RFC 6376 section 3.6.2.1). */
export function dkimRecordName(domain: string, selector: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** The text of the TXT record of a key (RFC 6376 section 3.6.1). */
export function dkimRecord({ algorithm, publicKey }: DkimPublicKey): string {
  return `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=${publicKey}`;
}

/**
 * Would a verifier that gets these records check signatures with this key? Where there are several records it may take
 * any (RFC 6376 section 3.6.2.2), so there has to be one.
 * @param records the text of each TXT record at the name of the key, its strings joined
 */
export function isKeyOf(key: DkimPublicKey, records: readonly string[]): boolean {
  const [record] = records;
  return record !== undefined && records.length === 1 && saysSameKey(record, dkimRecord(key));
}

/** Does a record give the key of ours, for signatures of mail as we make them (RFC 6376 section 3.6.1)? */
export function saysSameKey(record: string, ours: string): boolean {
  const [tags, wanted] = [readTags(record), readTags(ours)];
  return (
    tags !== null &&
    tags.get('p') === wanted?.get('p') &&
    (tags.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (tags.get('k') ?? 'rsa') === wanted?.get('k') &&
    admits(tags.get('h'), ['sha256']) &&
    admits(tags.get('s'), ['*', 'email'])
  );
}

/** Does a list with colons, where there is one, have one of these? */
export function admits(list: string | undefined, wanted: readonly string[]): boolean {
  return list === undefined || list.split(':').some(one => wanted.includes(one));
}

/**
 * A selector that tells algorithm and day of a key: `r20261128`, and `r20261128-2` when that is taken. A DNS label
 * (RFC 1035 section 2.3.1).
 */
export function newSelector(
  algorithm: DkimAlgorithm,
  nowMs: number,
  isTaken: (selector: string) => boolean,
): string {
  const day = new Date(nowMs).toISOString().slice(0, 10).replaceAll('-', '');
  const first = `${KEY_TYPES[algorithm].charAt(0)}${day}`;
  for (let number = 1; ; number++) {
    const selector = number === 1 ? first : `${first}-${number}`;
    if (!isTaken(selector)) return selector;
  }
}
