/** What the composition root sets. Times are in milliseconds, sizes in bytes. */
export interface SmtpListenerOptions {
  /** Our name in the greeting and in the answer to EHLO. */
  readonly hostname: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The limit that EHLO announces (RFC 1870). */
  readonly maxMessageBytes: number;
  /** In one transaction; RFC 5321 section 4.5.3.1.8 asks for at least 100. */
  readonly maxRecipients: number;
  /** Connections open at a time, in all and from one client network (`client-limits.ts`). */
  readonly maxClients: number;
  readonly maxClientsPerAddress: number;
  /** At the limit of all, a session that has brought no message for so long makes room for a new client. */
  readonly keepPlaceMs: number;
  /** 5xx replies in a session before it is closed; an accepted message starts the count anew. */
  readonly maxErrors: number;
  /** Unknown recipients in a session before it is closed; nothing starts this count anew. */
  readonly maxUnknownRecipients: number;
  /** How long the answer to an unknown recipient is kept back, from the third one on. */
  readonly unknownRecipientDelayMs: number;
  /** RFC 5321 section 4.5.3.2.7: five minutes at least. */
  readonly idleTimeoutMs: number;
  /** From DATA to the final dot, so that a trickle of bytes cannot hold a session for ever. */
  readonly dataTimeoutMs: number;
  /** The least that must come of a message, on average over each window of this length. */
  readonly minDataBytesPerSecond: number;
  readonly dataWindowMs: number;
  /** For a TLS handshake as a whole. */
  readonly handshakeTimeoutMs: number;
  /** From the greeting on; a message in hand may still be finished. */
  readonly sessionTimeoutMs: number;
  /** With a certificate STARTTLS is offered (TLS 1.2 or later), without one it is not. */
  readonly tls?: TlsIdentity;
  /** A second port where TLS comes first, with the same limits; needs `tls`. 0 takes a free one. */
  readonly implicitTlsPort?: number;
}

export interface TlsIdentity {
  /** PEM. */
  readonly key: string | Buffer;
  /** PEM, with the chain. */
  readonly cert: string | Buffer;
}

/**
 * Limits that suit an appliance; the rest has no default.
 *
 * Ten unknown recipients: a list with stale addresses on it sends them in another session, losing seconds;
 * whoever guesses gets ten tries a connection, at one a second. One message does not buy more of them,
 * or knowing one address would be enough to find all.
 *
 * A hundred bytes a second over two minutes: a tenth of a GSM data call, and two minutes outlast TCP's
 * retransmissions over an outage of one. A client that sends a byte now and then to keep a session busy is
 * gone after two minutes and not after thirty.
 */
export const smtpListenerDefaults = {
  maxMessageBytes: 26_214_400,
  maxRecipients: 100,
  maxClients: 1000,
  maxClientsPerAddress: 50,
  keepPlaceMs: 10_000,
  maxErrors: 100,
  maxUnknownRecipients: 10,
  unknownRecipientDelayMs: 1000,
  idleTimeoutMs: 5 * 60_000,
  dataTimeoutMs: 30 * 60_000,
  minDataBytesPerSecond: 100,
  dataWindowMs: 2 * 60_000,
  handshakeTimeoutMs: 60_000,
  sessionTimeoutMs: 2 * 60 * 60_000,
} as const satisfies Partial<SmtpListenerOptions>;

/** Why something was refused, for metrics and logs. */
export type RefusalReason =
  | 'line_ending'
  | 'too_large'
  | 'mail_loop'
  | 'no_room'
  | 'no_recipients'
  | 'sender_blocked'
  | 'store_error'
  | 'unknown_recipient'
  | 'too_many_unknown'
  | 'too_many_recipients'
  | 'too_many_clients'
  | 'too_many_from_address'
  | 'bad_commands'
  | 'timeout'
  | 'too_slow'
  | 'shutting_down';

export interface SmtpStats {
  /** Connections open now. */
  readonly connections: number;
  /** Connections let in since the start. */
  readonly connectionsTotal: number;
  readonly acceptedMessages: number;
  /** Messages refused once DATA had begun. */
  readonly refusedMessages: number;
  /** Everything refused, at whatever command: connections, recipients and messages. */
  readonly refusals: Readonly<Record<RefusalReason, number>>;
}

/** The listener's running totals. */
export class SmtpCounters {
  connectionsTotal = 0;
  acceptedMessages = 0;
  refusedMessages = 0;
  readonly #refusals: Record<RefusalReason, number> = {
    line_ending: 0,
    too_large: 0,
    mail_loop: 0,
    no_room: 0,
    no_recipients: 0,
    sender_blocked: 0,
    store_error: 0,
    unknown_recipient: 0,
    too_many_unknown: 0,
    too_many_recipients: 0,
    too_many_clients: 0,
    too_many_from_address: 0,
    bad_commands: 0,
    timeout: 0,
    too_slow: 0,
    shutting_down: 0,
  };

  refused(reason: RefusalReason): void {
    this.#refusals[reason] += 1;
  }

  snapshot(connections: number): SmtpStats {
    return {
      connections,
      connectionsTotal: this.connectionsTotal,
      acceptedMessages: this.acceptedMessages,
      refusedMessages: this.refusedMessages,
      refusals: { ...this.#refusals },
    };
  }
}
