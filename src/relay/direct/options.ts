import type { PoolLimits } from '../session/session-pool.js';
import type { DeliveryTimeouts } from './transaction.js';

/** How mail is delivered to the servers of other domains. Times are in milliseconds. */
export interface DirectOptions extends Omit<DeliveryTimeouts, 'mailMs'>, PoolLimits {
  /** Our name in EHLO. */
  readonly hostname: string;
  readonly port: number;
  /** Our addresses for connections of each family; null leaves the choice to the system. */
  readonly sourceAddresses: { readonly ipv4: string | null; readonly ipv6: string | null };
  /** May mail lead to this IP address? Asked before each connection. */
  mayConnect(address: string): boolean;
  /** PEM of the authorities to trust instead of Node's list, for routes that demand a verified certificate. */
  readonly ca: string | null;
  /** Messages at a time to one domain. `maxPerParty` is for one MX host. */
  readonly maxPerDomain: number;
  /** For the connection to one address. */
  readonly connectMs: number;
  /** How long the server may be silent while a session is set up. */
  readonly silenceMs: number;
  /** For the whole set-up of a session. */
  readonly setupMs: number;
  /** For the reply to MAIL on a connection that was used before. */
  readonly reusedMs: number;
  /** After so long no further address is tried. */
  readonly attemptMs: number;
}

/**
 * Each step has the timeout of RFC 5321 section 4.5.3.2. Set-up, envelope, content and attempt are limited as a whole
 * too: a server that makes the most of every step does not hold a connection for hours.
 */
export const directDefaults = {
  port: 25,
  sourceAddresses: { ipv4: null, ipv6: null },
  ca: null,
  maxConnections: 50,
  maxPerParty: 10,
  maxPerDomain: 10,
  maxMessagesPerConnection: 100,
  // What waits holds a place among the deliveries in hand, which others need.
  waitMs: 30_000,
  connectMs: 30_000,
  silenceMs: 5 * 60_000,
  setupMs: 15 * 60_000,
  commandMs: 5 * 60_000,
  envelopeMs: 20 * 60_000,
  reusedMs: 30_000,
  dataMs: 2 * 60_000,
  blockMs: 3 * 60_000,
  contentMs: 30 * 60_000,
  verdictMs: 10 * 60_000,
  attemptMs: 60 * 60_000,
  idleMs: 10_000,
  quitMs: 2_000,
} as const satisfies Partial<DirectOptions>;
