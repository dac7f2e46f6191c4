/** Set by `src/app/daemon.ts`. Times are in milliseconds, sizes in bytes. */
export interface SmtpListenerOptions {
  /** Our name in the greeting and in the reply to EHLO. */
  readonly hostname: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The limit that EHLO announces (RFC 1870). */
  readonly maxMessageBytes: number;
  /** Per transaction; RFC 5321 section 4.5.3.1.8 asks for at least 100. */
  readonly maxRecipients: number;
  /** Connections open at a time; who gives way when they run short is told in `connection-limits.ts`. */
  readonly maxClients: number;
  /** The same from one IPv4 address or IPv6 /64. */
  readonly maxClientsPerAddress: number;
  /** A session that is slow for this long between messages can be closed for another client. */
  readonly keepPlaceMs: number;
  /** The same within a message. */
  readonly keepPlaceInDataMs: number;
  /** What a session has to bring, in bytes of messages a second, not to be slow. */
  readonly keepPlaceBytesPerSecond: number;
  /** A session is closed after this many 5xx replies; an accepted message resets the count. */
  readonly maxErrors: number;
  /** A session is closed at one more unknown recipient than this; nothing resets the count. */
  readonly maxUnknownRecipients: number;
  /**
   * How long the reply to an unknown recipient is delayed, from the third one of a session on; also by how much longer
   * with each further one of a network that has had its share (`recipient-guesses.ts`). 0: no delays.
   */
  readonly unknownRecipientDelayMs: number;
  /** RFC 5321 section 4.5.3.2.7 asks for at least five minutes. */
  readonly idleTimeoutMs: number;
  /** From DATA to the final dot, so that a trickle of bytes cannot keep a session for ever. */
  readonly dataTimeoutMs: number;
  /** The minimum rate of a message, on average over each window of `dataWindowMs`. */
  readonly minDataBytesPerSecond: number;
  readonly dataWindowMs: number;
  /** For a whole TLS handshake. */
  readonly handshakeTimeoutMs: number;
  /** From the start of the session; a message that is being received may still be finished. */
  readonly sessionTimeoutMs: number;
  /** STARTTLS is offered if there is a certificate (TLS 1.2 or later). */
  readonly tls?: TlsIdentity;
  /** A second port with implicit TLS and the same limits; needs `tls`. 0 takes a free port. */
  readonly implicitTlsPort?: number;
}

export interface TlsIdentity {
  /** PEM. */
  readonly key: string | Buffer;
  /** PEM, with the chain. */
  readonly cert: string | Buffer;
}

/**
 * Limits that suit an appliance. The other options have no default.
 *
 * Ten unknown recipients: a mailing list with stale addresses tries the others in another session and loses seconds;
 * a client that guesses gets ten tries a connection, one a second. An accepted message does not reset the count, or
 * knowing one address would be enough to find all the others.
 *
 * A place costs a KiB a second where others need it: that is a GSM data call. Thirty seconds within a message allow for
 * a slow start and an outage; ten between messages, for a client that has another one.
 *
 * A hundred bytes a second over two minutes: that is a tenth of a GSM data call, and two minutes are enough for TCP to
 * recover from an outage of one minute. A client that sends a byte now and then to keep a session open is disconnected
 * after two minutes, not after thirty.
 */
export const smtpListenerDefaults = {
  maxMessageBytes: 26_214_400,
  maxRecipients: 100,
  maxClients: 1000,
  maxClientsPerAddress: 50,
  keepPlaceMs: 10_000,
  keepPlaceInDataMs: 30_000,
  keepPlaceBytesPerSecond: 1024,
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

/** Why something was refused, for counters and logs. */
export type RefusalReason =
  | 'line_ending'
  | 'too_large'
  | 'mail_loop'
  | 'no_room'
  | 'no_recipients'
  | 'sender_blocked'
  | 'author_unproven'
  | 'refused_by_domain'
  | 'author_unknown'
  | 'store_error'
  | 'unknown_recipient'
  | 'mailbox_full'
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
  /** Connections admitted since the start. */
  readonly connectionsTotal: number;
  readonly acceptedMessages: number;
  /** Those of them that came over TLS. */
  readonly acceptedOverTls: number;
  /** Messages refused after 354. */
  readonly refusedMessages: number;
  /** All refusals: of connections, commands, recipients and messages. */
  readonly refusals: Readonly<Record<RefusalReason, number>>;
}

/** The listener's counters. */
export class SmtpCounters {
  connectionsTotal = 0;
  acceptedMessages = 0;
  acceptedOverTls = 0;
  refusedMessages = 0;
  readonly #refusals: Record<RefusalReason, number> = {
    line_ending: 0,
    too_large: 0,
    mail_loop: 0,
    no_room: 0,
    no_recipients: 0,
    sender_blocked: 0,
    author_unproven: 0,
    refused_by_domain: 0,
    author_unknown: 0,
    store_error: 0,
    unknown_recipient: 0,
    mailbox_full: 0,
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
      acceptedOverTls: this.acceptedOverTls,
      refusedMessages: this.refusedMessages,
      refusals: { ...this.#refusals },
    };
  }
}
