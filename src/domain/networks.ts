import net from 'node:net';

/**
 * Networks that a name from outside must not lead into: this machine, the networks behind it, and what is no address
 * of a single host (RFC 6890 and the registries it began). `fault` follows the address: "10.0.0.1 is private".
 */
const REFUSED: readonly { readonly fault: string; readonly networks: readonly string[] }[] = [
  { fault: 'of this machine', networks: ['127.0.0.0/8', '0.0.0.0/8', '::/128', '::1/128'] },
  { fault: 'private', networks: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'] },
  { fault: 'link-local', networks: ['169.254.0.0/16', 'fe80::/10'] },
  { fault: 'shared by the customers of a carrier', networks: ['100.64.0.0/10'] },
  { fault: 'multicast or broadcast', networks: ['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'] },
  {
    fault: 'reserved',
    networks: [
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '240.0.0.0/4',
      // Teredo, ORCHID, benchmarks and the like; 6to4; documentation.
      '2001::/23',
      '2001:db8::/32',
      '2002::/16',
      '3fff::/20',
    ],
  },
];

/** Prefixes of six groups behind which an IPv4 address stands that is reached in place of the IPv6 address. */
const EMBEDDING = [
  // Mapped and compatible (RFC 4291 section 2.5.5), translated (RFC 2765 section 2.1), NAT64 (RFC 6052 section 2.1).
  '0:0:0:0:0:65535',
  '0:0:0:0:0:0',
  '0:0:0:0:65535:0',
  '100:65435:0:0:0:0',
];

const refused = REFUSED.map(({ fault, networks }) => ({ fault, isIn: inNetworks(networks) }));

/** Of IPv6 only this much is given out to hosts (RFC 4291 section 2.4). */
const isGlobalUnicast = inNetworks(['2000::/3']);

/** Which addresses a name from outside may lead to: public ones, and those of networks that the operator lists. */
export class Reach {
  readonly #isAllowed: (address: string) => boolean;

  /** @param allowed addresses and networks in CIDR notation, as the configuration checked them */
  constructor(allowed: readonly string[]) {
    this.#isAllowed = inNetworks(allowed);
  }

  /**
   * Why no connection may be opened to this address, as words that follow it: "is private"; null when one may. To be
   * asked of the very address that is connected to: what a name said a moment ago is no promise.
   */
  faultOf(address: string): string | null {
    if (net.isIP(address) === 0 || address.includes('%')) return 'is no address that can be reached';
    if (this.lists(address)) return null;
    const target = embeddedIpv4(address) ?? address;
    const found = refused.find(({ isIn }) => isIn(target));
    if (found !== undefined) return `is ${found.fault}`;
    return net.isIPv4(target) || isGlobalUnicast(target) ? null : 'is reserved';
  }

  /** Has the operator listed it? */
  lists(address: string): boolean {
    const embedded = embeddedIpv4(address);
    return (embedded !== null && this.#isAllowed(embedded)) || this.#isAllowed(address);
  }
}

/**
 * The eight groups of an IPv6 address, as numbers.
 * @param address a valid one, without a zone
 */
export function ipv6Groups(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const after = groupsOf(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap(group => {
    if (!group.includes('.')) return Number.parseInt(group, 16);
    // An IPv4 address at the end takes the place of two groups.
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function embeddedIpv4(address: string): string | null {
  if (!net.isIPv6(address)) return null;
  const groups = ipv6Groups(address);
  const [high = 0, low = 0] = groups.slice(6);
  // `::` and `::1` hold no IPv4 address.
  if (!EMBEDDING.includes(groups.slice(0, 6).join(':')) || (high === 0 && low <= 1)) return null;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * Is an address in one of these networks? An IPv4 address is in no IPv6 network, nor the other way round.
 * @param networks addresses, or networks in CIDR notation, as the configuration checks them
 */
export function inNetworks(networks: readonly string[]): (address: string) => boolean {
  // One list would take an IPv4 address for one of `::/0`.
  const lists = { ipv4: new net.BlockList(), ipv6: new net.BlockList() };
  for (const network of networks) {
    const [written = '', bits] = network.split('/');
    const length = Number(bits ?? (net.isIPv4(written) ? 32 : 128));
    const mapped = length >= 96 && isMapped(written) ? embeddedIpv4(written) : null;
    const address = mapped ?? written;
    lists[familyOf(address)].addSubnet(address, mapped === null ? length : length - 96, familyOf(address));
  }
  return address => lists[familyOf(address)].check(address, familyOf(address));
}

/** An IPv4 address as IPv6 writes it, `::ffff:192.0.2.1` (RFC 4291 section 2.5.5.2). */
function isMapped(address: string): boolean {
  return net.isIPv6(address) && ipv6Groups(address).slice(0, 6).join(':') === EMBEDDING[0];
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return net.isIPv4(address) ? 'ipv4' : 'ipv6';
}

/** The name under which the PTR record of an address stands (RFC 1035 section 3.5, RFC 3596 section 2.5). */
export function reverseName(address: string): string {
  if (net.isIPv4(address)) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const nibbles = ipv6Groups(address).flatMap(group => [...group.toString(16).padStart(4, '0')]);
  return `${nibbles.reverse().join('.')}.ip6.arpa`;
}

/** Are these two spellings of one address? */
export function isSameAddress(one: string, other: string): boolean {
  if (net.isIPv6(one) !== net.isIPv6(other)) return false;
  return net.isIPv6(one) ? ipv6Groups(one).join() === ipv6Groups(other).join() : one === other;
}
