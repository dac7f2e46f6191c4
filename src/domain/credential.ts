import { hash, randomBytes } from 'node:crypto';

/** `pst_` and 43 base64url characters: 256 random bits (decisions, Words). */
const CREDENTIAL = /^pst_[A-Za-z0-9_-]{43}$/;

export function newCredential(): string {
  return `pst_${randomBytes(32).toString('base64url')}`;
}

export function isCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}

/**
 * What is stored of a credential: its SHA-256, 32 bytes. A credential has 256 random bits, so a plain fast
 * hash cannot be searched; looking it up by its hash leaks no timing that helps to guess it.
 */
export function hashCredential(credential: string): Buffer {
  return Buffer.from(hash('sha256', credential, 'hex'), 'hex');
}
