import net from 'node:net';

export type Admission = 'admitted' | 'too_many_clients' | 'too_many_from_address';

/** Counts open connections, in all and for each client network, and says who may come in. */
export class ClientLimits {
  readonly #maxClients: number;
  readonly #maxPerAddress: number;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(maxClients: number, maxClientsPerAddress: number) {
    this.#maxClients = maxClients;
    this.#maxPerAddress = maxClientsPerAddress;
  }

  get total(): number {
    return this.#total;
  }

  /** Counts the client in if it is admitted; then `release` must follow once. */
  admit(address: string): Admission {
    const network = clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (open >= this.#maxPerAddress) return 'too_many_from_address';
    if (this.#total >= this.#maxClients) return 'too_many_clients';
    this.#open.set(network, open + 1);
    this.#total += 1;
    return 'admitted';
  }

  release(address: string): void {
    const network = clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (open <= 1) this.#open.delete(network);
    else this.#open.set(network, open - 1);
    this.#total -= 1;
  }
}

/**
 * What counts as one client: an IPv4 address, mapped into IPv6 or not (RFC 4291 section 2.5.5.2), or an
 * IPv6 /64, the smallest network one customer gets (RFC 6177).
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [bare = ''] = address.split('%');
  if (!net.isIPv6(bare)) return address;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const behind = tail === '' ? [] : tail.split(':');
    // A dotted quad at the end stands for two groups.
    const width = behind.length + (tail.includes('.') ? 1 : 0);
    while (groups.length + width < 8) groups.push('0');
    groups.push(...behind);
  }
  const prefix = groups.slice(0, 4).map(group => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(':')}::/64`;
}
