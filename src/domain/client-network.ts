import net from 'node:net';

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
