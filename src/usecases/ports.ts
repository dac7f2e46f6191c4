import type { ParsedAddress } from '../contract/messages.js';
import type { Authentication, Origin } from '../domain/authentication.js';
import type { MailReport } from '../domain/delivery-reports.js';
import type { KeptExcerpt } from '../domain/excerpts/kept-excerpt.js';
import type { InboxId, MessageId } from '../domain/ids.js';
import type { ThreadingIds } from '../domain/message-ids.js';
import type { AttachedFile } from '../domain/message-parts.js';
import type { Writer } from '../store/engine/tables.js';

/** The outside world as use cases see it; adaptors implement these, the composition root joins them. */

/** Milliseconds since the epoch, and what a clock that is watched also knows (`upkeep/watch-clock.ts`). */
export interface Clock {
  (): number;
  /** By how much it was set back, all jumps together; 0 when it is not watched. */
  readonly setBackMs?: number;
  /** It has jumped, and nothing has confirmed it since: go by `lapseInstant` for what cannot be undone. */
  readonly isInDoubt?: boolean;
}

/**
 * Up to when things may lapse: be erased, forgotten or given up because their time is over. Now, or the epoch while the
 * clock is in doubt: nothing is as old as that.
 */
export function lapseInstant(clock: Clock): number {
  const nowMs = clock();
  return clock.isInDoubt === true ? 0 : nowMs;
}

/** Structured log lines, one object each (`ops/logging.ts`). Never give it bodies, keys or header values. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}

/** Where nobody reads a log. */
export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/**
 * Offers work on stored messages to the queue, each with what decides when its turn comes. An offer is a hint: it never
 * blocks, never throws and may be lost (Redis down, process ended). The pending index of the store is the truth, and the
 * reconciler offers again.
 */
export interface WorkQueue<Work> {
  offer(work: readonly Work[]): void;
}

/**
 * What the parser's thread hands over. The content travels as JSON bytes made in the thread, never as an
 * object: a body of 20 MB would otherwise be cloned and encoded again on the main loop.
 */
export interface PreparedContent {
  /** UTF-8 JSON of `ReceivedContent`; the receiver owns the bytes. */
  readonly json: Uint8Array;
  /** The few values that lists and threading need, taken from the content. */
  readonly subject: string | null;
  readonly messageId: string | null;
  readonly from: ParsedAddress | null;
  /** Mailboxes of From, and of To, Cc and Bcc, that searches find: lower case, each once, bounded. */
  readonly senders: readonly string[];
  readonly recipients: readonly string[];
  /** How it begins and what of it is new; the places in it are those of `json`. Absent where that was not looked for. */
  readonly excerpt?: KeptExcerpt;
  /** The attachments, in the order of the content. */
  readonly attachments: readonly AttachedFile[];
  readonly ids: ThreadingIds;
  /** What it reports of a message that was sent from here; null for ordinary mail. */
  readonly report: MailReport | null;
  /** By which it is found (`joinWords`). */
  readonly words: string;
  /** Who has written it, as far as could be found out in time; null where that was not asked. */
  readonly authentication?: Authentication | null;
}

/**
 * Mail that the service itself writes: links for humans, feedback for the operator. Resolves when the relay has
 * taken it; rejects with `SystemMailError` when it has not. Nothing tries again: whoever waits for the mail asks
 * again, and the log says why none came.
 */
export interface SystemMail {
  send(mail: {
    /** A bare address that has passed our grammar. */
    readonly to: string;
    readonly subject: string;
    /** Lines end with LF. */
    readonly text: string;
  }): Promise<void>;
}

/** Sign-in with an external provider that vouches for email addresses. */
export interface SignIn {
  /** What humans call the provider. */
  readonly provider: string;
  /** Begins a sign-in. Never throws. */
  begin(): Promise<SignInStart>;
  /**
   * Takes what the provider sent back by way of the browser: the query of the callback, and the `flow` that this
   * browser was given at the start. Never throws.
   */
  finish(input: { readonly query: string; readonly flow: string | null }): Promise<SignInOutcome>;
}

export type SignInStart =
  /** Send the browser to `url`, and let it keep `flow` to itself. */
  | { readonly status: 'started'; readonly url: string; readonly flow: string }
  | { readonly status: 'unavailable' };

export type SignInOutcome =
  /** The provider vouches for the address, and that its owner signed in at that instant. */
  | { readonly status: 'signed_in'; readonly email: string; readonly authenticatedAt: number }
  | {
      readonly status: 'refused';
      readonly reason: 'not_begun_here' | 'denied' | 'email_not_verified' | 'too_long_ago' | 'not_valid';
    };

/** How often something may be done by one client, or for one address. */
export interface RateLimit {
  /** Kept apart from every other limit. */
  readonly name: string;
  readonly max: number;
  /** In any window of this length, not in windows that begin on the hour. */
  readonly windowMs: number;
}

export type RateVerdict =
  | { readonly isAllowed: true }
  /** Not counted: who waits so long is let through. */
  | { readonly isAllowed: false; readonly retryAfterMs: number };

/** Counts uses by key. Never throws and never waits long, even when the counters cannot be reached. */
export interface RateLimiter {
  /** Counts one use by `key`, unless the limit is reached. */
  take(limit: RateLimit, key: string): Promise<RateVerdict>;
}

export type ParseOutcome =
  | { readonly status: 'parsed'; readonly prepared: PreparedContent }
  /** The message is to blame or may be: it ran out of time or memory, threw, or its worker died. */
  | {
      readonly status: 'gave_up';
      readonly reason: 'timeout' | 'memory' | 'error' | 'worker_died';
      /** For the log; no content of the message. */
      readonly detail: string;
    }
  /** The pool is stopping: nothing is known of the message, try again later. */
  | { readonly status: 'stopped' };

/** A raw message to be parsed. */
export interface ParseSource {
  readonly size: number;
  /** Its bytes in pieces that stay as they are. A large message is read so, when its turn has come. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Fills an array of its size with all of its bytes at once. A small message is read so, maybe more than once. */
  readInto(target: Uint8Array): void;
  /** Whose message it is: owners take turns. */
  readonly owner: string;
  /** Where it came from, if who has written it is to be found out beside parsing. */
  readonly origin?: Origin | null;
}

/** Finds out who has written a message, off the main thread, within limits of time and memory. Never rejects. */
export interface Authenticator {
  /** @param source the raw message, whose From is read as the content shows it */
  check(source: ParseSource, origin: Origin): Promise<Authentication>;
}

/** Parses off the main thread, within limits of time and memory. Never throws for what a message does. */
export interface MessageParser {
  parse(source: ParseSource): Promise<ParseOutcome>;
}

/** One message to hand over (RFC 5321 sections 2.3.1 and 3.3). */
export interface RelayAttempt {
  /** Of the sent message. */
  readonly id: MessageId;
  readonly envelope: {
    /** Reverse-path: the address of the sending inbox; `""` for the null sender. */
    readonly from: string;
    /** Forward-paths in the order of To, Cc and Bcc, each distinct address once; all of them or none. */
    readonly recipients: readonly string[];
  };
  /** The whole message with CRLF line ends, 7-bit, no line over 998 octets, without Bcc. */
  readonly content: Uint8Array;
  /** From the service itself: it reaches an inbox here whose account stores as much as it may. */
  readonly isNotice?: boolean;
}

/** How an attempt ended. `detail` is for the log and the admin. */
export type RelayOutcome =
  /** 2xx after the final dot. */
  | {
      readonly status: 'accepted';
      readonly detail: string;
      /** The Message-ID, without brackets, that the relay gave the message in place of its own, if it told. */
      readonly assignedId?: string | null;
    }
  /** Refused before the final dot, or never connected: nobody has got it. */
  | { readonly status: 'rejected'; readonly errorCode: RelayErrorCode; readonly detail: string }
  /** The final dot may have arrived, its answer has not. */
  | { readonly status: 'unknown'; readonly errorCode: 'acceptance_unknown'; readonly detail: string };

export type RelayErrorCode =
  /** Refused for the time being, before the final dot: the same message may be sent again. */
  | 'E_TEMPORARY_FAILURE'
  | 'E_RECIPIENT_REJECTED'
  | 'E_SENDER_REJECTED'
  | 'E_MESSAGE_REJECTED'
  | 'E_MESSAGE_TOO_LARGE'
  | 'E_RATE_LIMIT_EXCEEDED'
  | 'E_DAILY_LIMIT_EXCEEDED'
  | 'E_RELAY_UNREACHABLE'
  | 'E_RELAY_AUTH_FAILED'
  | 'E_RELAY_TLS_FAILED'
  | 'E_RELAY_TIMEOUT';

/**
 * Hands a message over once. Never throws, never tries again: whatever happens becomes an outcome, and a
 * `rejected` one promises that no recipient has got the message.
 */
export interface Relay {
  submit(attempt: RelayAttempt): Promise<RelayOutcome>;
}

/** Signs mail before it leaves the house; without one it leaves as it is. */
export interface MailSigner {
  /**
   * The message with its signatures before it; as it is when it is from no mail domain of ours.
   * @param from the address in From, by whose domain it is signed
   */
  sign(content: Uint8Array, from: string): Promise<Uint8Array>;
}

/** One message for the recipients of one domain, to be delivered to its mail servers (RFC 5321 section 5.1). */
export interface DeliveryJob {
  /** Of the sent message. */
  readonly id: MessageId;
  /** Lower case, A-labels. */
  readonly domain: string;
  /** Reverse-path; `""` for the null sender. */
  readonly from: string;
  /** Forward-paths, each distinct, all of this domain. */
  readonly recipients: readonly string[];
  /** As `RelayAttempt.content`. */
  readonly content: Uint8Array;
  /**
   * Called before each final dot, with the recipients that the server takes, when everything else has been sent. Only
   * when it resolves with true does the dot leave; it has put on disk by then that it may have. A message has a second
   * dot only when a server has refused the first for good over IPv6, which is then tried over IPv4.
   */
  beforeDot(recipients: readonly string[]): Promise<boolean>;
}

/** How an attempt ended for one recipient. */
export interface DeliveryOutcome {
  readonly recipient: string;
  /**
   * `delivered`: 2xx after the final dot. `failed`: refused for good. `later`: nobody has it, try again. `unknown`: the
   * dot may have arrived, its reply has not.
   */
  readonly state: 'delivered' | 'failed' | 'later' | 'unknown';
  /** The server that said so; null when none was reached. */
  readonly host: string | null;
  /** Protocol of the session, such as `TLSv1.3`; null in plain text. */
  readonly tls: string | null;
  /** Enhanced status code (RFC 3463), the server's or ours. */
  readonly code: string;
  /** The server's reply in one line of printable ASCII, or what happened; at most 500 characters. */
  readonly reply: string;
  /** The server asks for a slower pace (421, or a 4xx that speaks of rate). */
  readonly isThrottled?: boolean;
  /**
   * This was no attempt, and is tried again after so long: the destination rests, all connections are in use, or the
   * service is being stopped.
   */
  readonly retryAfterMs?: number;
}

/** Delivers to the mail servers of other domains. Never rejects; one outcome for each recipient. */
export interface Deliverer {
  deliver(job: DeliveryJob): Promise<readonly DeliveryOutcome[]>;
}

/**
 * What an SMTP listener needs from the use cases (RFC 5321). The listener speaks the protocol; every promise to a
 * sender is decided and kept behind these types.
 */

/** A recipient that will be served: the address as the sender wrote it, and the inbox it reaches. */
export interface ResolvedRecipient {
  readonly inboxId: InboxId;
  readonly address: string;
  /** The address is `postmaster` or `abuse`: rules of the inbox do not bind it (RFC 5321 section 4.5.1). */
  readonly isRole: boolean;
}

/** Stands for the address of the client of mail that came over no network. */
export const IN_PROCESS = 'local';

/** The same of mail that an operator has brought in from elsewhere: nothing tells who its client was. */
export const IMPORTED = 'import';

/** The envelope of one mail transaction (RFC 5321 section 2.3.1). */
export interface Envelope {
  /** Reverse-path as the sender wrote it, without angle brackets; `""` for the null sender. */
  readonly from: string;
  readonly recipients: readonly ResolvedRecipient[];
  /** Address of the SMTP client. */
  readonly clientAddress: string;
  /** What the client said in EHLO or HELO. */
  readonly helo: string;
  /** From the service itself, about mail of the inbox, or imported: its receiving rules do not bind it. */
  readonly isNotice?: boolean;
}

export type AcceptOutcome =
  /**
   * On disk. Only now may the client be told 250. One message id for each distinct inbox that takes it: those
   * whose receiving rules refuse it get none, and no copy is kept for them.
   */
  | { readonly status: 'accepted'; readonly messageIds: readonly MessageId[] }
  /** Every inbox of the envelope has been deleted since RCPT: 550 5.1.1. */
  | { readonly status: 'no_recipients' }
  /** The receiving rules of every inbox that is there refuse the sender, the visible From: 550 5.7.1. */
  | { readonly status: 'blocked' }
  /** No inbox takes it, one at least because its author is not proven, or not one that it takes mail of: 550 5.7.1. */
  | { readonly status: 'unproven' }
  /** The domain in From (A-labels; null where it names several) asks for it to be refused: it fails DMARC, 550 5.7.1. */
  | { readonly status: 'refused_by_domain'; readonly domain: string | null }
  /** Rules need to know who has written it, and that cannot be found out now: 451 4.7.5. */
  | { readonly status: 'check_later' }
  /** Disk below its floor, or the store's map is full: 452 4.3.1. */
  | { readonly status: 'no_room' };

/** Bytes of one message on their way into the store. Exactly one of `commit` and `abort` ends it. */
export interface IncomingBody {
  /**
   * Takes the next bytes of the message (dot-stuffing removed); the caller must not use the buffer again. Returns false
   * when the window is full: wait for `drained()` before the next write.
   */
  write(chunk: Uint8Array): boolean;
  /** Resolves when more may be written. Rejects when the store failed: answer 451 and `abort()`. */
  drained(): Promise<void>;
  /**
   * Stores the message for every recipient; resolves after the flush to disk. A rejection is 451 4.3.0.
   * @param alongside what else is written in the same unit of work, once the message is
   */
  commit(envelope: Envelope, alongside?: (writer: Writer) => void): Promise<AcceptOutcome>;
  /** Forgets everything that was written. Never throws. */
  abort(): void;
}

export interface InboundMail {
  /** Can new mail be taken at all (disk and map)? Cheap; asked at MAIL and at DATA. */
  hasRoom(): boolean;
  /** Can this recipient take mail? A role address has a share of the disk, not all of it: 452 at RCPT. */
  hasRoomFor(recipient: ResolvedRecipient): boolean;
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
  /**
   * Counts a message for the storage of a recipient's account until the returned function is called, at the end of the
   * transaction. Null when the account stores as much as it may: 452 4.2.2 at RCPT. `declaredBytes` is from SIZE (RFC
   * 1870), null without it; a notice of the service itself has a reserve.
   */
  holdStorage(
    recipient: ResolvedRecipient,
    declaredBytes: number | null,
    isNotice?: boolean,
  ): (() => void) | null;
  /** Starts a message. */
  begin(): IncomingBody;
}
