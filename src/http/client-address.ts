import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

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
