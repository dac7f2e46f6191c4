import { createHmac, timingSafeEqual } from 'node:crypto';

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
