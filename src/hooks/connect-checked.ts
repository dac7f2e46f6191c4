import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { HookReason } from '../contract/webhooks.js';
import type { Dns } from '../dns/dns-client.js';
import { isSameAddress, type Reach } from '../domain/networks.js';
import { hostOf, portOf } from '../domain/webhook-url.js';

export interface ConnectDeps {
  readonly dns: Dns;
  readonly reach: Reach;
  /** For tests: the authority of the certificates of endpoints. */
  readonly ca?: string;
}

/** Why there is no connection, as whoever looks after the endpoint is told. */
export class HookFailure extends Error {
  readonly reason: HookReason;

  constructor(reason: HookReason, message: string) {
    super(message);
    this.name = 'HookFailure';
    this.reason = reason;
  }
}

/** Addresses of a name that are tried. */
const MAX_ADDRESSES = 4;
/** For one of several addresses, in milliseconds. */
const TRY_MS = 3_000;

/**
 * Connects to the host of a URL. The address is looked at once more when the socket is connected, before anything is
 * sent, the greeting of TLS included: what a name said a moment ago is no promise, and what listens at an address of this
 * machine is not for others to call. No proxy is asked.
 * @throws HookFailure
 */
export async function connectChecked(deps: ConnectDeps, url: URL, signal: AbortSignal): Promise<Socket> {
  const { reach } = deps;
  const host = hostOf(url);
  const found = await addressesOf(deps.dns, host);
  if (found.length === 0) throw new HookFailure('unknown_host', `${host} has no address`);
  const addresses = found.filter(address => reach.faultOf(address) === null).slice(0, MAX_ADDRESSES);
  const [first] = found;
  if (addresses.length === 0) throw refused(host, `${first} ${reach.faultOf(first ?? '')}`);
  const socket = await connectToAny(addresses, portOf(url), signal);
  const fault = faultOf(reach, socket);
  if (fault !== null) {
    socket.destroy();
    throw refused(host, fault);
  }
  return url.protocol === 'https:' ? secured(deps, socket, host, signal) : socket;
}

function refused(host: string, fault: string): HookFailure {
  return new HookFailure('address_refused', `${host} must not be called: ${fault}`);
}

/**
 * Why a connection that is open must not be used; null when it may. The machine itself is called at an address of its own
 * only, which then is at both ends.
 */
export function faultOf(
  reach: Reach,
  { remoteAddress = '', localAddress = '' }: Pick<Socket, 'remoteAddress' | 'localAddress'>,
): string | null {
  const fault = reach.faultOf(remoteAddress);
  if (fault !== null) return `${remoteAddress} ${fault}`;
  if (reach.lists(remoteAddress) || !isSameAddress(remoteAddress, localAddress)) return null;
  return `${remoteAddress} is of this machine`;
}

async function addressesOf(dns: Dns, host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  // RFC 6761 section 6.3.
  if (/(?:^|\.)localhost\.?$/.test(host)) return ['127.0.0.1', '::1'];
  const answers = await Promise.all([dns.lookup(host, 'A'), dns.lookup(host, 'AAAA')]);
  return answers.flatMap(answer => (answer.kind === 'found' ? answer.records : []));
}

async function connectToAny(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  let reason = '';
  for (const host of addresses) {
    const isLast = host === addresses.at(-1);
    const socket = connectTcp({ host, port, noDelay: true });
    try {
      const ended = isLast ? signal : AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]);
      await once(socket, 'connect', { signal: ended });
      return socket;
    } catch (error) {
      socket.destroy();
      // A connection attempt that was cut off may fail later.
      socket.on('error', () => undefined);
      if (signal.aborted) throw error;
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new HookFailure('unreachable', reason);
}

async function secured(
  { ca }: ConnectDeps,
  socket: Socket,
  host: string,
  signal: AbortSignal,
): Promise<Socket> {
  const tls = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  try {
    await once(tls, 'secureConnect', { signal });
    return tls;
  } catch (error) {
    tls.destroy();
    tls.on('error', () => undefined);
    socket.destroy();
    if (signal.aborted) throw error;
    throw new HookFailure('tls', error instanceof Error ? error.message : String(error));
  }
}
