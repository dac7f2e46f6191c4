import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isLoopback } from '../domain/addresses.js';

/** A resolver, which does the work of asking others. */
export interface DnsServer {
  readonly address: string;
  readonly port: number;
  /** Is its word that it validated an answer (the AD bit, RFC 4035 section 3.2.3) to be believed? */
  readonly isTrusted: boolean;
}

export interface ServersOptions {
  /** `address`, `address:port` or `[address]:port`; those of the system when empty. */
  readonly servers: readonly string[];
  /** Whether the word of resolvers beyond this machine counts. */
  readonly trustAd: boolean;
}

const RESOLV_CONF = '/etc/resolv.conf';
/** More are not asked; so does the system (resolv.conf(5)). */
const MAX_SERVERS = 3;
/** What the system says may change while we run. */
const READ_AGAIN_MS = 10_000;

/** The servers of the configuration, or those of the system as it names them now. */
export function serversOf({ servers, trustAd }: ServersOptions): () => readonly DnsServer[] {
  const toServers = (list: readonly string[]) =>
    list.slice(0, MAX_SERVERS).map(one => toServer(one, trustAd));
  if (servers.length > 0) {
    const fixed = toServers(servers);
    return () => fixed;
  }
  let known: readonly DnsServer[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - readAt > READ_AGAIN_MS) {
      known = toServers(systemServers());
      readAt = now;
    }
    return known;
  };
}

function systemServers(): readonly string[] {
  let text = '';
  try {
    text = readFileSync(RESOLV_CONF, 'utf8');
  } catch {
    // Without the file there is a resolver on this machine, as without servers in it.
  }
  return nameserversIn(text);
}

/** The addresses of the `nameserver` lines (resolv.conf(5)); this machine where there is none. */
export function nameserversIn(resolvConf: string): readonly string[] {
  const found = [...resolvConf.matchAll(/^nameserver[ \t]+(\S+)/gm)].flatMap(([, address = '']) =>
    isIP(address) === 0 ? [] : [address],
  );
  return found.length > 0 ? found : ['127.0.0.1'];
}

function toServer(text: string, trustAd: boolean): DnsServer {
  const [, bracketed, v4, port] = /^(?:\[(.+)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? [];
  const address = bracketed ?? v4 ?? text;
  return { address, port: Number(port ?? 53), isTrusted: trustAd || isLoopback(address) };
}
