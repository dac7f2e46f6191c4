import type { DkimResult } from '../../domain/authentication.js';
import { dkimRecordName } from '../../domain/dkim.js';
import { keyFor } from '../../domain/dkim-keys.js';
import type { DkimForm, DkimSignature, Signer } from '../../domain/dkim-signatures.js';
import type { BodyHashes } from './body-hash.js';
import type { HeaderLine } from './header-lines.js';
import { type Resolve, textsAt } from './lookups.js';
import { checkerOf, readKey } from './public-keys.js';
import { type FieldsByName, signedHeader } from './signed-header.js';

/** Clocks differ; further ahead nobody signs. */
const MAX_AHEAD_S = 24 * 60 * 60;

export type HashedBodies = ReturnType<BodyHashes['digest']>;

/** What is left to do when all bytes are there, and what has been asked for is answered. */
export type PendingCheck = (resolve: Resolve) => Promise<DkimResult>;

/**
 * Checks a signature over header and body (RFC 6376 section 6.1) as far as that goes without its key: the text is not
 * needed afterwards.
 */
export function checkSignature(
  signature: DkimSignature,
  field: HeaderLine,
  fields: FieldsByName,
  bodies: HashedBodies,
  nowMs: number,
): PendingCheck {
  const result = resultWithoutKey(signature, bodies, nowMs);
  if (result !== null) return async () => result;
  const signed = signedHeader(fields, signature.signedNames, signature.header, field);
  return checkSigned(signature, signed, signature.identityDomain);
}

/**
 * Checks what is signed, given as a whole.
 * @param identityDomain whom the signature is for, which keys may demand to be the domain itself
 */
export function checkSigned(signer: Signer, signed: string, identityDomain: string): PendingCheck {
  if (signer.algorithm === 'rsa-sha1') return async () => 'policy';
  const isSignedBy = checkerOf(signer, signed);
  return async resolve => {
    const texts = await textsAt(resolve, dkimRecordName(signer.domain, signer.selector));
    if (texts === null) return 'temperror';
    const record = keyFor(signer.algorithm, texts);
    if (record === null || (record.isStrict && identityDomain !== signer.domain)) return 'permerror';
    const read = readKey(record);
    if (read.kind !== 'key') return read.kind === 'refused' ? 'policy' : 'permerror';
    return isSignedBy(read.key) ? 'pass' : 'fail';
  };
}

/** The forms of the body that have to be hashed for a signature: none where it cannot count. */
export function formNeededBy({ algorithm, body }: DkimSignature): readonly DkimForm[] {
  return algorithm === 'rsa-sha1' ? [] : [body];
}

function resultWithoutKey(
  { algorithm, body, bodyHash, bodyLength, expiresAt, signedAt }: DkimSignature,
  bodies: HashedBodies,
  nowMs: number,
): DkimResult | null {
  const nowS = nowMs / 1000;
  if (algorithm === 'rsa-sha1') return 'policy';
  if (signedAt !== null && signedAt > nowS + MAX_AHEAD_S) return 'neutral';
  if (expiresAt !== null && expiresAt < nowS) return 'fail';
  const hashed = bodies.get(body);
  if (hashed === undefined) return 'neutral';
  if (bodyLength !== null && bodyLength < hashed.length) return 'policy';
  if (bodyLength !== null && bodyLength > hashed.length) return 'fail';
  return withoutPadding(hashed.hash) === withoutPadding(bodyHash) ? null : 'fail';
}

function withoutPadding(base64: string): string {
  return base64.replace(/=+$/, '');
}
