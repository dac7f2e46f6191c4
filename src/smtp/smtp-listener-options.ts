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
  /** 5xx replies in a session before it is closed; an accepted message starts the count anew. */
  readonly maxErrors: number;
  /** RFC 5321 section 4.5.3.2.7: five minutes at least. */
  readonly idleTimeoutMs: number;
  /** From DATA to the final dot, so that a trickle of bytes cannot hold a session for ever. */
  readonly dataTimeoutMs: number;
  /** From the greeting on; a message in hand may still be finished. */
  readonly sessionTimeoutMs: number;
  /** With a certificate STARTTLS is offered (TLS 1.2 or later), without one it is not. */
  readonly tls?: TlsIdentity;
}

export interface TlsIdentity {
  /** PEM. */
  readonly key: string | Buffer;
  /** PEM, with the chain. */
  readonly cert: string | Buffer;
}

/** Limits that suit an appliance; the rest has no default. */
export const smtpListenerDefaults = {
  maxMessageBytes: 26_214_400,
  maxRecipients: 100,
  maxClients: 1000,
  maxClientsPerAddress: 50,
  maxErrors: 100,
  idleTimeoutMs: 5 * 60_000,
  dataTimeoutMs: 30 * 60_000,
  sessionTimeoutMs: 2 * 60 * 60_000,
} as const satisfies Partial<SmtpListenerOptions>;
