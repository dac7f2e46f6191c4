import { admits, type DkimAlgorithm } from './dkim.js';
import { readTags } from './tag-list.js';

/** A public key as the DNS has it (RFC 6376 section 3.6.1). */
export interface DkimKeyRecord {
  readonly type: 'rsa' | 'ed25519';
  /** In base64. */
  readonly publicKey: string;
  /** The identity must be of the very domain that signs, not of one below it. */
  readonly isStrict: boolean;
}

/** In base64: an RSA key of 4,096 bits has some 740, and nobody needs a longer one (RFC 8301 section 3.2). */
const MAX_KEY_LENGTH = 1_000;
export const MIN_RSA_BITS = 1024;
export const MAX_RSA_BITS = 4096;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The key for signatures with an algorithm.
 * @param records the text of each TXT record at the name of the key
 * @returns null when there is none that can be used, it was withdrawn, or there are several
 */
export function keyFor(
  algorithm: DkimAlgorithm | 'rsa-sha1',
  records: readonly string[],
): DkimKeyRecord | null {
  // Where any name below a domain has TXT records, those for other uses come with the key.
  const found = records.flatMap(record => {
    const tags = record.length > 2 * MAX_KEY_LENGTH ? null : readTags(record);
    return tags?.has('p') === true && (tags.get('v') ?? 'DKIM1') === 'DKIM1' ? [tags] : [];
  });
  const [tags] = found;
  // Which of several counts is undefined (RFC 6376 section 3.6.2.2).
  if (tags === undefined || found.length > 1) return null;
  const [type, hash = ''] = algorithm.split('-');
  const publicKey = tags.get('p') ?? '';
  if ((type !== 'rsa' && type !== 'ed25519') || (tags.get('k') ?? 'rsa') !== type) return null;
  if (publicKey.length > MAX_KEY_LENGTH || !BASE64.test(publicKey)) return null;
  if (!admits(tags.get('h'), [hash]) || !admits(tags.get('s'), ['*', 'email'])) return null;
  return { type, publicKey, isStrict: admits(tags.get('t') ?? '', ['s']) };
}
