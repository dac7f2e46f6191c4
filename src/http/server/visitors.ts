import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { clientNetwork, isLoopback } from '../../domain/addresses.js';
import { Refusal, refuse } from '../../domain/errors.js';
import type { Logger, RateLimit, RateLimiter } from '../../usecases/ports.js';

export interface VisitorsOptions {
  /** `service.public_url`: its origin is ours, whatever a request says of hosts. */
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

/** A request, as far as the router has read it. */
export interface Visit {
  /** Values of the named path segments. */
  readonly params: Readonly<Record<string, string>>;
  /** The query as it was written, behind `?`. */
  readonly queryText: string;
  readonly request: IncomingMessage;
  /** Called before the first byte of a body is asked for. */
  readonly onRead: () => void;
}

const FOREIGN = (): Refusal =>
  refuse(
    'origin_not_allowed',
    'This request comes from a page of another site. Send it without Origin, or from our own pages.',
  );

/** Who comes without a key: where from, sent by which site, and how often. */
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

  /** Refuses what a page of another site sends, or of one that will not say: `origin_not_allowed`. */
  refuseForeign({ headers }: IncomingMessage): void {
    if (headers.origin !== undefined && headers.origin !== this.#origin) throw FOREIGN();
  }

  /**
   * The same for a form of our own pages. These have `Referrer-Policy: no-referrer`, for which browsers send
   * `Origin: null` with a form (Fetch standard, "append a request Origin header"); `Sec-Fetch-Site` then tells
   * where it came from, and in a browser too old for that the seal of the form does.
   */
  refuseForeignForm(request: IncomingMessage): void {
    const site = request.headers['sec-fetch-site'] ?? 'none';
    if (site !== 'same-origin' && site !== 'none') throw FOREIGN();
    if (request.headers.origin !== 'null') this.refuseForeign(request);
  }

  /** Both, for a route that is called without a key. */
  async refuseUnwelcome(request: IncomingMessage, limit: RateLimit, address: string): Promise<void> {
    this.refuseForeign(request);
    await this.refuseBeyond(limit, address);
  }

  /** Counts a visit from this address (an IPv6 address by its /64), unless there were too many: `rate_limited`. */
  async refuseBeyond(limit: RateLimit, address: string): Promise<void> {
    const verdict = await this.#limiter.take(limit, clientNetwork(address));
    if (!verdict.isAllowed) throw tooOften(verdict.retryAfterMs);
  }
}

/** The refusal of a limit. */
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
 * Where requests come from: the peer of the connection, or, when that is a proxy that the configuration trusts, the
 * last hop of `X-Forwarded-For` that is none. Each trusted proxy vouches for the entry that it appended, which
 * stands last; whatever stands before an entry that nobody vouches for was written by the client.
 */
export class ClientAddresses {
  readonly #trusted = new BlockList();

  /** @param trustedProxies addresses, or networks in CIDR notation */
  constructor(trustedProxies: readonly string[]) {
    for (const entry of trustedProxies) {
      const [address = '', length] = entry.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      if (length === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(length), family);
    }
  }

  of({ headers, socket }: Peer): string {
    let address = plainAddress(socket.remoteAddress ?? '') ?? 'unknown';
    if (!this.#isTrusted(address)) return address;
    const hops = forwardedFor(headers);
    while (this.#isTrusted(address)) {
      const hop = plainAddress(hops.pop() ?? '');
      if (hop === null) break;
      address = hop;
    }
    return address;
  }

  #isTrusted(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  }
}

function forwardedFor(headers: Peer['headers']): string[] {
  const value = headers['x-forwarded-for'];
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text.split(',').map(hop => hop.trim());
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/i;

/** An address without port, brackets and zone; IPv4 as such (RFC 4291 section 2.5.5.2). Null when it is none. */
function plainAddress(text: string): string | null {
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const [bare = ''] = (ipv6 ?? ipv4 ?? text).split('%');
  const address = MAPPED.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? null : address.toLowerCase();
}
