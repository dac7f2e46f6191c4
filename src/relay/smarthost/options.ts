/** Where and how the smarthost is reached; times are in milliseconds. */
export interface SmarthostOptions extends SmarthostTimeouts {
  /** Name or address; the certificate must be its. */
  readonly host: string;
  readonly port: number;
  /** `starttls` insists on it. Certificates are always checked. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  /** Whoever has a user has a file with its password. */
  readonly user: string | null;
  readonly passwordFile: string | null;
  /** PEM; these instead of the certification authorities that Node knows. */
  readonly caFile: string | null;
  /** Our name in EHLO. */
  readonly hostname: string;
  readonly maxConnections: number;
  readonly maxMessagesPerConnection: number;
}

export interface SmarthostTimeouts {
  /** For a place among the connections, when all are in use. */
  readonly waitMs: number;
  /** From the look-up of the name to the answer to AUTH. */
  readonly setupMs: number;
  readonly commandMs: number;
  /** For the answer to MAIL on a connection that was used before. */
  readonly reusedMs: number;
  /** For the answer to DATA. */
  readonly dataMs: number;
  /** For one block of content to leave us, and for all of them. */
  readonly blockMs: number;
  readonly contentMs: number;
  /** For the answer to the final dot. */
  readonly verdictMs: number;
  /** A connection without work is kept so long. */
  readonly idleMs: number;
  /** For the answer to RSET and QUIT, which no message waits for. */
  readonly quitMs: number;
}

/**
 * MAIL, RCPT, DATA, blocks and the final dot have what RFC 5321 section 4.5.3.2 asks for. Ten minutes for the
 * verdict are worth waiting: given up earlier, a message stays `unknown` that the server has a word about.
 *
 * A session that is not set up within a minute is given up although the RFC would wait five for the greeting:
 * the smarthost is one that the operator chose, nothing has been handed over, and saying so loses nothing.
 * Idle connections are left before the shortest idle timeouts of large providers.
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
