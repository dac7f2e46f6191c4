import { isIPv4 } from 'node:net';
import { isSameAddress, reverseName } from '../domain/networks.js';
import type { Dns } from './dns-client.js';
import { isName } from './packet.js';

/** What the PTR records of an address say, and whether the names say the same (RFC 8499: forward-confirmed). */
export type Reverse =
  | { readonly kind: 'confirmed'; readonly name: string }
  /** None of `names` has the address; there may be none. */
  | { readonly kind: 'unconfirmed'; readonly names: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string };

/** An address has one PTR record, or a few. */
const MAX_NAMES = 5;

/** @param address without a zone */
export async function lookUpReverse(dns: Dns, address: string): Promise<Reverse> {
  const found = await dns.lookup(reverseName(address), 'PTR');
  if (found.kind === 'failed') return found;
  const names = found.kind === 'found' ? found.records.filter(isName).slice(0, MAX_NAMES) : [];
  let failed: Reverse | null = null;
  for (const name of names) {
    const answer = await dns.lookup(name, isIPv4(address) ? 'A' : 'AAAA');
    if (answer.kind === 'failed') failed = answer;
    if (answer.kind === 'found' && answer.records.some(one => isSameAddress(one, address))) {
      return { kind: 'confirmed', name };
    }
  }
  return failed ?? { kind: 'unconfirmed', names };
}
