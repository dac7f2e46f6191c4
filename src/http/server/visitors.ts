import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { clientNetwork, isLoopback } from '../../domain/addresses.js';
import { Refusal, refuse } from '../../domain/errors.js';
import { inNetworks } from '../../domain/networks.js';
import type { Logger, RateLimit, RateLimiter } from '../../usecases/ports.js';

export interface VisitorsOptions {
  /** `service.public_url`: our origin. `Host` headers are not trusted. */
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

/** A request, as far as the router has read it. */
export interface Visit {
  /** Values of the named path segments. */
  readonly params: Readonly<Record<string, string>>;
  /** The raw query, without `?`. */
  readonly queryText: string;
  readonly request: IncomingMessage;
  /** Called before the first byte of a body is read. */
  readonly onRead: () => void;
}

const FOREIGN = (): Refusal =>
  refuse(
    'origin_not_allowed',
    'This request comes from a page of another site. Send it without Origin, or from our own pages.',
  );

/** Checks callers without a key: client address, origin, and rate limits. */
export class Visitors {
  readonly #origin: string;
  readonly #addresses: ClientAddresses;
  readonly #limiter: RateLimiter;
  readonly #log: Logger;
  #hasWarned = false;

  constructor({ publicUrl, trustedProxies, limiter, log }: VisitorsOptions) {
    this.#origin = new URL(publicUrl).origin;
    this.#addresses = new ClientAddresses(trustedProxies);
    this.#limiter = limiter;
    this.#log = log;
  }

  /** Whether an address is that of a trusted proxy. */
  isProxy(address: string): boolean {
    return this.#addresses.isTrusted(plainAddress(address) ?? 'unknown');
  }

  addressOf(request: IncomingMessage): string {
    const address = this.#addresses.of(request);
    if (!this.#hasWarned && isLoopback(address) && request.headers['x-forwarded-for'] !== undefined) {
      this.#hasWarned = true;
      this.#log.warn(
        { peer: address },
        'a proxy on this machine forwards requests and is not trusted: all its clients share one limit. Name it in http.trusted_proxies.',
      );
    }
    return address;
  }

  /** Refuses requests sent by a page of another or an unknown site: `origin_not_allowed`. */
  refuseForeign({ headers }: IncomingMessage): void {
    if (headers.origin !== undefined && headers.origin !== this.#origin) throw FOREIGN();
  }

  /**
   * The same for a form of our own pages. These have `Referrer-Policy: no-referrer`, for which browsers send
   * `Origin: null` with a form (Fetch standard, "append a request Origin header"); `Sec-Fetch-Site` then tells
   * where the form came from; browsers too old to send that are caught by the seal of the form.
   */
  refuseForeignForm(request: IncomingMessage): void {
    const site = request.headers['sec-fetch-site'] ?? 'none';
    if (site !== 'same-origin' && site !== 'none') throw FOREIGN();
    if (request.headers.origin !== 'null') this.refuseForeign(request);
  }

  /** `refuseForeign`, then `refuseBeyond`: for a route without a key. */
  async refuseUnwelcome(request: IncomingMessage, limit: RateLimit, address: string): Promise<void> {
    this.refuseForeign(request);
    await this.refuseBeyond(limit, address);
  }

  /** Counts a request of this address (of its /64 for IPv6) and refuses it beyond the limit: `rate_limited`. */
  async refuseBeyond(limit: RateLimit, address: string): Promise<void> {
    const verdict = await this.#limiter.take(limit, clientNetwork(address));
    if (!verdict.isAllowed) throw tooOften(verdict.retryAfterMs);
  }
}

/** The `rate_limited` refusal, with the time to wait in milliseconds. */
export function tooOften(retryAfterMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const wait =
    seconds < 120 ? `${seconds} second${seconds === 1 ? '' : 's'}` : `${Math.ceil(seconds / 60)} minutes`;
  const message = `There were too many attempts. Try again in ${wait}.`;
  return new Refusal({ code: 'rate_limited', message, retryAfterS: seconds });
}

type Peer = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/**
 * The client address of a request: the peer of the connection or, when that is a trusted proxy, the last address in
 * `X-Forwarded-For` that is not one. Each proxy appends the address of its peer, so entries are read from the end;
 * what precedes the first untrusted address could be forged by the client.
 */
export class ClientAddresses {
  readonly #isTrusted: (address: string) => boolean;

  /** @param trustedProxies addresses, or networks in CIDR notation */
  constructor(trustedProxies: readonly string[]) {
    this.#isTrusted = inNetworks(trustedProxies);
  }

  of({ headers, socket }: Peer): string {
    let address = plainAddress(socket.remoteAddress ?? '') ?? 'unknown';
    if (!this.isTrusted(address)) return address;
    const hops = forwardedFor(headers);
    while (this.isTrusted(address)) {
      const hop = plainAddress(hops.pop() ?? '');
      if (hop === null) break;
      address = hop;
    }
    return address;
  }

  /** Whether it is one of the proxies. */
  isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#isTrusted(address);
  }
}

function forwardedFor(headers: Peer['headers']): string[] {
  const value = headers['x-forwarded-for'];
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text.split(',').map(hop => hop.trim());
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/i;

/** The address without port, brackets and zone; IPv4-mapped IPv6 as IPv4 (RFC 4291 section 2.5.5.2). Else null. */
function plainAddress(text: string): string | null {
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const [bare = ''] = (ipv6 ?? ipv4 ?? text).split('%');
  const address = MAPPED.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? null : address.toLowerCase();
}
