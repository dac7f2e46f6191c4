import { createHash, createPublicKey, createVerify, type KeyObject, verify } from 'node:crypto';
import { type DkimKeyRecord, MAX_RSA_BITS, MIN_RSA_BITS } from '../../domain/dkim-keys.js';
import type { Signer } from '../../domain/dkim-signatures.js';

export type ReadKey =
  | { readonly kind: 'key'; readonly key: KeyObject }
  /** Of a length that does not count, or costs too much. */
  | { readonly kind: 'refused' | 'faulty' };

/** Before the 32 bytes of a key in its SubjectPublicKeyInfo (RFC 8410 section 4). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
/** All keys in use have 65537; with a long one a check takes as long as signing. */
const MAX_EXPONENT = 2n ** 32n;
const MAX_KNOWN = 500;

/** Keys by their record, since reading one takes longer than using it. */
const known = new Map<string, ReadKey>();

/** Reads a key, which is an RSA key in one of two forms or an Ed25519 key (RFC 8463 section 4). */
export function readKey({ type, publicKey }: DkimKeyRecord): ReadKey {
  const place = `${type} ${publicKey}`;
  let key = known.get(place);
  if (key === undefined) {
    key = type === 'rsa' ? readRsa(publicKey) : readEd25519(publicKey);
    const [oldest] = known.keys();
    if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    known.set(place, key);
  }
  return key;
}

function readEd25519(publicKey: string): ReadKey {
  const bytes = Buffer.from(publicKey, 'base64');
  if (bytes.length !== 32) return { kind: 'faulty' };
  return keyOf(Buffer.concat([ED25519_PREFIX, bytes]), 'spki') ?? { kind: 'faulty' };
}

function readRsa(publicKey: string): ReadKey {
  const bytes = Buffer.from(publicKey, 'base64');
  const read = keyOf(bytes, 'spki') ?? keyOf(bytes, 'pkcs1');
  if (read === null || read.key.asymmetricKeyType !== 'rsa') return { kind: 'faulty' };
  const { modulusLength = 0, publicExponent = 0n } = read.key.asymmetricKeyDetails ?? {};
  const isRefused =
    modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS || publicExponent > MAX_EXPONENT;
  return isRefused ? { kind: 'refused' } : read;
}

function keyOf(
  key: Buffer,
  type: 'spki' | 'pkcs1',
): { readonly kind: 'key'; readonly key: KeyObject } | null {
  try {
    return { kind: 'key', key: createPublicKey({ key, format: 'der', type }) };
  } catch {
    return null;
  }
}

/**
 * Takes what is signed, and tells of one key whether it signed that. In between it holds a hash, not the text: the key has
 * still to be looked up.
 */
export function checkerOf({ algorithm, signature }: Signer, signed: string): (key: KeyObject) => boolean {
  const bytes = Buffer.from(signature, 'base64');
  if (algorithm === 'ed25519-sha256') {
    // What Ed25519 signs is the hash (RFC 8463 section 3).
    const data = createHash('sha256').update(signed, 'latin1').digest();
    return key => isSound(() => verify(null, data, key, bytes));
  }
  const hashed = createVerify('sha256').update(signed, 'latin1');
  return key => isSound(() => hashed.verify(key, bytes));
}

function isSound(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
