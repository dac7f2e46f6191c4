import type { IncomingMessage } from 'node:http';

/**
 * The value of a cookie (RFC 6265 section 5.4). Null when it is missing or given twice: one of the two may have been
 * planted by an attacker.
 */
export function readCookie({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(`${name}=`))
    .map(pair => pair.slice(name.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}

/** Names and attributes of our cookies, which depend on whether the public URL is HTTPS. */
export class CookieJar {
  readonly #isSecure: boolean;

  constructor(publicUrl: string) {
    this.#isSecure = publicUrl.startsWith('https:');
  }

  /** With `__Host-`, which keeps other hosts of the domain from setting the cookie; only over TLS. */
  name(purpose: string): string {
    return `${this.#isSecure ? '__Host-' : ''}postern-${purpose}`;
  }

  /** A `Set-Cookie` value (RFC 6265bis section 4.1). */
  set(
    purpose: string,
    value: string,
    options: { readonly sameSite: 'Strict' | 'Lax'; readonly maxAgeS?: number },
  ): string {
    const age = options.maxAgeS === undefined ? '' : `; Max-Age=${options.maxAgeS}`;
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.name(purpose)}=${value}; Path=/; HttpOnly; SameSite=${options.sameSite}${secure}${age}`;
  }

  /** A `Set-Cookie` value that deletes the cookie. */
  clear(purpose: string, sameSite: 'Strict' | 'Lax'): string {
    return this.set(purpose, '', { sameSite, maxAgeS: 0 });
  }
}
