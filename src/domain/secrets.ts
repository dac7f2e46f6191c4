import { createHash, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { PHRASE_WORDS } from './phrase-words.js';

/** `pst_` and 43 base64url characters: 256 random bits. */
const CREDENTIAL = /^pst_[A-Za-z0-9_-]{43}$/;

/** A new API key. */
export function newCredential(): string {
  return `pst_${randomBytes(32).toString('base64url')}`;
}

/** True for the form of a credential; whether it exists is looked up later. */
export function isCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}

/**
 * The SHA-256 of a credential, 32 bytes; only this is stored. A fast hash is enough: 256 random bits cannot be
 * found by trying. Looking a credential up by its hash leaks no timing that helps to guess it.
 */
export function hashCredential(credential: string): Buffer {
  return Buffer.from(hash('sha256', credential, 'hex'), 'hex');
}

/** A secret with which webhooks are signed: 256 random bits, as Standard Webhooks writes them. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

const TOKEN = /^[0-9a-f]{48}$/;

/**
 * The secret part of a link in a mail: 192 random bits. It is hexadecimal, because programs that recognise links
 * in text drop punctuation at the end.
 */
export function newLinkToken(): string {
  return randomBytes(24).toString('hex');
}

/** True for the form of a token; whether it exists is looked up later. */
export function isLinkToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The SHA-256 of a token, 32 bytes; only this is stored and looked up. */
export function hashLinkToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Six of 2,048 words: 66 random bits. */
const WORDS = 6;

/** A claim phrase, six words with a space between: a human gives it to an agent, which redeems it (`createClaim`). */
export function newClaimPhrase(): string {
  const bytes = randomBytes(2 * WORDS);
  const words = Array.from({ length: WORDS }, (_none, at) => {
    // 2,048 divides 65,536: every word is as likely as any other.
    return PHRASE_WORDS[bytes.readUInt16BE(2 * at) % PHRASE_WORDS.length] ?? '';
  });
  return words.join(' ');
}

/**
 * The SHA-256 of a phrase in lower case, trimmed, each run of white space as one space; only this is stored and
 * looked up. A fast hash is enough: the rate limit on claims stops guessing, a phrase is valid for hours only, and
 * whoever can read the store does not need one.
 */
export function hashClaimPhrase(phrase: string): Buffer {
  const normal = phrase.toLowerCase().trim().replace(/\s+/g, ' ');
  return createHash('sha256').update(normal).digest();
}

const SEAL = /^([0-9a-z]{1,10})\.([A-Za-z0-9_-]{43})$/;

/**
 * Seals for the forms of our pages, against cross-site request forgery. A seal is a MAC over the purpose of the
 * form, the browser it was given to, and the time. A form posted by another site has none. Since a seal carries
 * its own time, nothing has to be stored to know how old a form is.
 */
export class FormSeal {
  readonly #key: Buffer;

  /** @param secret of the store, base64; the key for seals is derived from it */
  constructor(secret: string) {
    this.#key = createHmac('sha256', Buffer.from(secret, 'base64')).update('forms of pages').digest();
  }

  /**
   * @param purpose what the form does, and to which resource
   * @param browser value of a cookie that only this browser has
   */
  seal(purpose: string, browser: string, nowMs: number): string {
    return `${nowMs.toString(36)}.${this.#mac(purpose, browser, nowMs).toString('base64url')}`;
  }

  /** When the form was given out, in milliseconds; null when the seal is not ours or for another purpose or browser. */
  sealedAt(seal: string, purpose: string, browser: string): number | null {
    const [, instant = '', mac = ''] = SEAL.exec(seal) ?? [];
    if (mac === '') return null;
    const atMs = Number.parseInt(instant, 36);
    const expected = this.#mac(purpose, browser, atMs);
    const given = Buffer.from(mac, 'base64url');
    return given.length === expected.length && timingSafeEqual(given, expected) ? atMs : null;
  }

  #mac(purpose: string, browser: string, atMs: number): Buffer {
    // JSON keeps the parts apart: no two different inputs give the same text.
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([purpose, browser, atMs]))
      .digest();
  }
}
