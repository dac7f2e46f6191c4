import { createHash, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { PHRASE_WORDS } from './phrase-words.js';

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

const SEAL = /^([0-9a-z]{1,10})\.([A-Za-z0-9_-]{43})$/;

/**
 * Seals on the forms of our pages. A seal says: this page was given to this browser, for this purpose, at this
 * instant. Nobody else can make one, and it is good for nothing else: a form that another site sends has none
 * (cross-site request forgery), and how long ago a page was opened need not be written down anywhere.
 */
export class FormSeal {
  readonly #key: Buffer;

  /** `secret` is the store's own, base64; what is made from it here is of use nowhere else. */
  constructor(secret: string) {
    this.#key = createHmac('sha256', Buffer.from(secret, 'base64')).update('forms of pages').digest();
  }

  /**
   * @param purpose what the form does, and to what
   * @param browser what only this browser has: the value of a cookie
   */
  seal(purpose: string, browser: string, nowMs: number): string {
    return `${nowMs.toString(36)}.${this.#mac(purpose, browser, nowMs).toString('base64url')}`;
  }

  /** The instant at which the form was given out; null for anything but a seal of ours for this purpose and browser. */
  sealedAt(seal: string, purpose: string, browser: string): number | null {
    const [, instant = '', mac = ''] = SEAL.exec(seal) ?? [];
    if (mac === '') return null;
    const atMs = Number.parseInt(instant, 36);
    const expected = this.#mac(purpose, browser, atMs);
    const given = Buffer.from(mac, 'base64url');
    return given.length === expected.length && timingSafeEqual(given, expected) ? atMs : null;
  }

  #mac(purpose: string, browser: string, atMs: number): Buffer {
    // As JSON, the parts cannot run into each other.
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([purpose, browser, atMs]))
      .digest();
  }
}
