import { createHash, randomBytes } from 'node:crypto';
import { PHRASE_WORDS } from './phrase-words.js';

/** Six words of 2,048: 66 random bits (decisions, Signup). */
const WORDS = 6;

/** What a human hands to an agent, which redeems it for a key: six words with a space between. */
export function newClaimPhrase(): string {
  const bytes = randomBytes(2 * WORDS);
  const words = Array.from({ length: WORDS }, (_none, at) => {
    // 2,048 divides 65,536: every word is as likely as any other.
    return PHRASE_WORDS[bytes.readUInt16BE(2 * at) % PHRASE_WORDS.length] ?? '';
  });
  return words.join(' ');
}

/**
 * What is stored of a phrase and looked up: the SHA-256 of it in lower case, trimmed, with one space for any
 * white space. Guessing is bounded by the limit on claims, not by the cost of the hash; a phrase lives for
 * hours, and who can read the store needs none.
 */
export function hashClaimPhrase(phrase: string): Buffer {
  const normal = phrase.toLowerCase().trim().replace(/\s+/g, ' ');
  return createHash('sha256').update(normal).digest();
}
