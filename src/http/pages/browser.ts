import { randomBytes } from 'node:crypto';
import { MOST_BACK_MS } from '../../domain/clock.js';
import type { FormSeal } from '../../domain/secrets.js';
import type { Clock } from '../../usecases/ports.js';
import type { PageHeaders } from '../server/route.js';
import type { CookieJar } from './cookies.js';
import type { PageRequest } from './page-route.js';

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * Protects forms against cross-site requests (signed double submit): a cookie that other sites can neither read nor
 * set nor have sent along, and a seal over it in the form. Each kind of page has its own cookie: a page opened from a
 * mail arrives without `SameSite=Strict` cookies and gets a new one, which must not invalidate other open pages.
 */
export class BrowserForms {
  readonly #seals: FormSeal;
  readonly #cookies: CookieJar;
  readonly #clock: Clock;

  constructor(deps: { readonly seals: FormSeal; readonly cookies: CookieJar; readonly clock: Clock }) {
    this.#seals = deps.seals;
    this.#cookies = deps.cookies;
    this.#clock = deps.clock;
  }

  /** The seal for the hidden field of a form, and the header that sets its cookie unless the browser has one. */
  give(
    request: PageRequest,
    kind: string,
    purpose: string,
  ): { readonly seal: string; readonly headers: PageHeaders } {
    const known = this.#secretOf(request, kind);
    const secret = known ?? randomBytes(32).toString('base64url');
    const seal = this.#seals.seal(purpose, secret, this.#clock());
    const headers: PageHeaders =
      known === null ? { 'Set-Cookie': this.#cookies.set(kind, secret, { sameSite: 'Strict' }) } : {};
    return { seal, headers };
  }

  /** When (ms) this form was given to this browser for this purpose; null when it was not. */
  givenAt(request: PageRequest, kind: string, purpose: string): number | null {
    const secret = this.#secretOf(request, kind);
    const at = secret === null ? null : this.#seals.sealedAt(request.field('seal'), purpose, secret);
    // A form of a clock that was ahead would be good until the clock has caught up.
    return at === null || at > this.#clock() + MOST_BACK_MS ? null : at;
  }

  #secretOf(request: PageRequest, kind: string): string | null {
    const secret = request.cookie(this.#cookies.name(kind));
    return secret !== null && SECRET.test(secret) ? secret : null;
  }
}
