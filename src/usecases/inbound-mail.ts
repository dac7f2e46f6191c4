import type { InboxId, MessageId } from '../domain/ids.js';

/**
 * What an SMTP listener needs of the house (RFC 5321). The listener speaks the protocol; everything it
 * promises to a sender is decided and kept behind these types.
 */

/** A recipient that will be served: the address as the sender wrote it, and the inbox it reaches. */
export interface ResolvedRecipient {
  readonly inboxId: InboxId;
  readonly address: string;
  /** The address is `postmaster` or `abuse`: rules of the inbox do not bind it (RFC 5321 section 4.5.1). */
  readonly isRole: boolean;
}

/** The envelope of one mail transaction (RFC 5321 section 2.3.1). */
export interface Envelope {
  /** Reverse-path as the sender wrote it, without angle brackets; `""` for the null sender. */
  readonly from: string;
  readonly recipients: readonly ResolvedRecipient[];
  /** Address of the SMTP client. */
  readonly clientAddress: string;
  /** What the client said in EHLO or HELO. */
  readonly helo: string;
  readonly isTls: boolean;
}

export type AcceptOutcome =
  /**
   * On disk. Only now may the client be told 250. One message id for each distinct inbox that takes it: those
   * whose receiving rules refuse the sender get none, and no copy is kept for them.
   */
  | { readonly status: 'accepted'; readonly messageIds: readonly MessageId[] }
  /** Every inbox of the envelope has been deleted since RCPT: 550 5.1.1. */
  | { readonly status: 'no_recipients' }
  /** The receiving rules of every inbox that is there refuse the sender, the visible From: 550 5.7.1. */
  | { readonly status: 'blocked' }
  /** Disk below its floor, or the store's map is full: 452 4.3.1. */
  | { readonly status: 'no_room' };

/** Bytes of one message on their way into the store. Exactly one of `commit` and `abort` ends it. */
export interface IncomingBody {
  /**
   * Takes the next bytes of the message (already unstuffed); the caller gives the buffer up.
   * Returns false when the window is full: wait for `drained()` before the next write.
   */
  write(chunk: Uint8Array): boolean;
  /** Resolves when more may be written. Rejects when the store failed: answer 451 and `abort()`. */
  drained(): Promise<void>;
  /** Stores the message for every recipient; resolves after the flush to disk. A rejection is 451 4.3.0. */
  commit(envelope: Envelope): Promise<AcceptOutcome>;
  /** Forgets everything that was written. Never throws. */
  abort(): void;
}

export interface InboundMail {
  /** Can new mail be taken at all (disk and map)? Cheap; asked at MAIL and at DATA. */
  hasRoom(): boolean;
  /**
   * Which inbox does this RCPT address reach? Null for an unknown, retired or foreign one (550 5.1.1).
   * `address` is the forward-path without brackets and source route; bare `postmaster` is allowed
   * (RFC 5321 section 4.5.1). Throws when the store cannot be read: 451 4.3.0, never acceptance.
   */
  resolveRecipient(address: string): ResolvedRecipient | null;
  /**
   * The recipients whose receiving rules refuse mail from these mailboxes: for a caller that knows the sender
   * before the message. `commit` looks at the rules again.
   */
  refusing(
    recipients: readonly ResolvedRecipient[],
    fromAddresses: readonly string[],
  ): readonly ResolvedRecipient[];
  /** Starts a message. `declaredBytes` is SIZE from MAIL (RFC 1870), or null. */
  begin(declaredBytes: number | null): IncomingBody;
}
