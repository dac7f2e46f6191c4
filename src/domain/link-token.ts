import { createHash, randomBytes } from 'node:crypto';

const TOKEN = /^[0-9a-f]{48}$/;

/**
 * The secret part of a link in a mail: 192 random bits. Hexadecimal, because programs that find links in a text
 * leave out marks at their end.
 */
export function newLinkToken(): string {
  return randomBytes(24).toString('hex');
}

export function isLinkToken(text: string): boolean {
  return TOKEN.test(text);
}

/** What is stored of a token: its SHA-256, under which it is looked up. */
export function hashLinkToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
