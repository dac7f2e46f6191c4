import type { TransactionTimeouts } from '../session/transaction.js';

/** How to reach the smarthost. Times are in milliseconds. */
export interface SmarthostOptions extends SmarthostTimeouts {
  /** Name or IP address; the certificate must be valid for it. */
  readonly host: string;
  readonly port: number;
  /** With `starttls` a session without TLS fails. Certificates are always checked. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  /** Null: no authentication. Otherwise `passwordFile` is set too. */
  readonly user: string | null;
  readonly passwordFile: string | null;
  /** PEM file with the certification authorities to trust instead of Node's list. */
  readonly caFile: string | null;
  /** Our name in EHLO. */
  readonly hostname: string;
  readonly maxConnections: number;
  /** False when the server gives messages a Message-ID of its own. */
  readonly keepsMessageId: boolean;
  readonly maxMessagesPerConnection: number;
}

/** How long to wait for what, in milliseconds. */
export interface SmarthostTimeouts extends Omit<TransactionTimeouts, 'mailMs'> {
  /** For a free connection, when all are in use. */
  readonly waitMs: number;
  /** For the whole set-up of a session, from the look-up of the name to the reply to AUTH. */
  readonly setupMs: number;
  /** For the reply to MAIL on a connection that was used before. */
  readonly reusedMs: number;
  /** How long an idle connection is kept open. */
  readonly idleMs: number;
  /** For the reply to RSET and QUIT, for which no message waits. */
  readonly quitMs: number;
}

/**
 * MAIL, RCPT, DATA, blocks and the final dot get the timeouts of RFC 5321 section 4.5.3.2. The ten minutes for the
 * reply to the final dot matter: giving up earlier makes a message `unknown` whose outcome the server would tell.
 *
 * The set-up of a session is given up after one minute, although the RFC allows five for the greeting alone: the
 * operator chose the smarthost, nothing has been handed over, and giving up loses nothing. Idle connections are
 * closed before the shortest idle timeouts of large providers.
 */
export const smarthostDefaults = {
  maxMessagesPerConnection: 100,
  waitMs: 5 * 60_000,
  setupMs: 60_000,
  commandMs: 5 * 60_000,
  reusedMs: 30_000,
  dataMs: 2 * 60_000,
  blockMs: 3 * 60_000,
  contentMs: 30 * 60_000,
  verdictMs: 10 * 60_000,
  idleMs: 30_000,
  quitMs: 2_000,
} as const satisfies Partial<SmarthostOptions>;
