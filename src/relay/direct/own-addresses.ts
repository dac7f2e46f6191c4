import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP, isIPv6 } from 'node:net';
import type { Dns } from '../../dns/dns-client.js';
import { lookUpReverse } from '../../dns/reverse.js';
import { isSameAddress } from '../../domain/networks.js';

/** Where mail is taken. */
export interface ListenPlace {
  /** An address, a wildcard address or a name. */
  readonly host: string;
  readonly port: number;
}

/** Where a listener of this configuration takes mail, with TLS from the start too; a port of 0 is none. */
export function listenPlaces(smtp: {
  readonly host: string;
  readonly port: number;
  readonly implicitTlsPort: number;
}): readonly ListenPlace[] {
  const { host, port, implicitTlsPort } = smtp;
  return [port, implicitTlsPort].filter(one => one !== 0).map(one => ({ host, port: one }));
}

/** A documentation address (RFC 5737): no machine has it. */
const NOBODYS = '192.0.2.1';

/**
 * Does our listener take connections at this address? `os.networkInterfaces()` would tell the addresses, but needs
 * netlink sockets, which a service may not have; a socket can be bound to an address exactly when it is ours.
 */
export async function isListenedAt({ host }: ListenPlace, address: string): Promise<boolean> {
  const isWildcard = host === '::' || (host === '0.0.0.0' && !isIPv6(address)) || isIP(host) === 0;
  if (!isWildcard) return isIP(host) !== 0 && isSameAddress(host, address);
  // A system may allow to bind to any address (ip_nonlocal_bind); then this tells nothing.
  return (await canBind(address)) && !(await canBind(NOBODYS));
}

async function canBind(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    socket.bind({ address, port: 0, exclusive: true });
    await once(socket, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

/** The address of ours from which the system would send to `address`; null when there is no way. Nothing is sent. */
export async function sourceTowards(address: string): Promise<string | null> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    socket.connect(25, address);
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

/** Documentation addresses (RFC 5737, RFC 3849) stand for the Internet: they are reached by the default route. */
export const SOMEWHERE = { ipv4: NOBODYS, ipv6: '2001:db8::1' } as const;

export interface Ipv6UseOptions {
  readonly mode: 'auto' | 'on' | 'off';
  /** The IPv6 address from which to send; null lets the system choose. */
  readonly source: string | null;
  readonly dns: Dns;
}

/** `unsure`: it could not be found out now, so that only IPv4 is used for the time being. */
export type Ipv6Wanted = 'yes' | 'no' | 'unsure';

const CONFIRMED_MS = 3_600_000;
const UNCONFIRMED_MS = 5 * 60_000;

/**
 * Is mail to go out over IPv6? Large receivers refuse IPv6 clients without a name that has their address, so that
 * `auto` asks for that.
 */
export class Ipv6Use {
  readonly #options: Ipv6UseOptions;
  #known: Promise<Ipv6Wanted> | null = null;
  #until = Number.NEGATIVE_INFINITY;

  constructor(options: Ipv6UseOptions) {
    this.#options = options;
  }

  isWanted(): Promise<Ipv6Wanted> {
    const { mode } = this.#options;
    if (mode !== 'auto') return Promise.resolve(mode === 'on' ? 'yes' : 'no');
    if (this.#known === null || performance.now() > this.#until) {
      this.#until = performance.now() + UNCONFIRMED_MS;
      this.#known = this.#isConfirmed();
    }
    return this.#known;
  }

  async #isConfirmed(): Promise<Ipv6Wanted> {
    const { source, dns } = this.#options;
    const address = source ?? (await sourceTowards(SOMEWHERE.ipv6));
    if (address === null || address.includes('%')) return 'no';
    const { kind } = await lookUpReverse(dns, address);
    if (kind === 'confirmed') this.#until = performance.now() + CONFIRMED_MS;
    return kind === 'failed' ? 'unsure' : kind === 'confirmed' ? 'yes' : 'no';
  }
}
