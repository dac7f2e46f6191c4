import type { KeptAnswer } from '../dns/answer-cache.js';
import type { DnsType } from '../dns/packet.js';
import type { Authentication, Origin } from '../domain/authentication.js';
import type { PreparedContent } from '../usecases/ports.js';

/**
 * The protocol between the pool and its threads. `job` is the number of a message, by which a late answer about an
 * earlier one is recognised and ignored.
 *
 *   small messages:  batch ----------------> results
 *   others, alone:   begin, chunk ..., end -> taken ..., results
 *
 * Posts are dear: each wakes the other side, which takes longer than to parse a small message. So small messages go in
 * batches, and the results of several share a post. A thread works on one message at a time, and begins none of a batch
 * without marking it in memory that both sides share (`Mark`): when the thread ends, the pool knows the one it was at.
 *
 * Who has written a message is found out over the same bytes, and a thread does not wait for the DNS: what comes too late for
 * the results follows in `checked`, in any order, while the thread works on other messages.
 *
 * Questions of a thread for the DNS, `ask`, are answered in any order by `answers`.
 *
 * The stream has flow control: the pool sends at most `SOURCE_WINDOW` bytes that were not acknowledged by `taken`.
 */

/** A message of up to this many bytes is posted whole, with others. */
export const SMALL_MESSAGE = 256 * 1024;
/** Most messages, and most bytes of messages, that a thread is given at once. */
export const BATCH_MESSAGES = 32;
export const BATCH_BYTES = 1024 * 1024;
/** A result waits no longer than this for those of the next messages, in milliseconds, unless the next takes longer. */
export const RESULTS_WAIT_MS = 4;
export const SOURCE_WINDOW = 512 * 1024;
/** Most bytes of a larger message in one post. */
export const SOURCE_PIECE = 64 * 1024;

export type ToThread =
  | {
      readonly kind: 'batch';
      readonly messages: readonly BatchedMessage[];
      /** The messages, one after the other. */
      readonly bytes: Uint8Array;
      /** A `Mark` for each message of the batch, shared. */
      readonly marks: Int32Array;
    }
  | { readonly kind: 'begin'; readonly job: number; readonly asked: Asked }
  | { readonly kind: 'chunk'; readonly job: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly job: number }
  /** The source has failed: the thread is to give up the message. */
  | { readonly kind: 'abandon'; readonly job: number }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'taken'; readonly job: number; readonly bytes: number }
  | { readonly kind: 'results'; readonly results: readonly ParseResult[] }
  | { readonly kind: 'checked'; readonly checks: readonly CheckResult[] }
  | { readonly kind: 'ask'; readonly questions: readonly Question[] };

/** What is to be done with a message. */
export interface Asked {
  /** Find out who has written it, if this is given. */
  readonly origin: Origin | null;
  /** Only that: leave it unparsed. */
  readonly isCheckOnly: boolean;
  /** Whose message it is: owners share what waits for the DNS. */
  readonly owner: string;
  /** Others wait until it is done, so it waits for the DNS hardly at all. */
  readonly isHurried: boolean;
}

export interface BatchedMessage {
  readonly job: number;
  readonly size: number;
  readonly asked: Asked;
  /** Where its mark stands. Messages are worked on in this order. */
  readonly place: number;
}

/** What has become of a message of a batch. Each side changes `waiting` only, by compare and exchange, so one wins. */
export const Mark = {
  waiting: 0,
  /** Set by the thread. The last one that has begun is the one in work. */
  begun: 1,
  /** Set by the pool: the thread must not begin it any more. */
  withdrawn: 2,
} as const;

export type ParseResult =
  | {
      readonly status: 'parsed';
      readonly job: number;
      /** Null when it was only to be checked. */
      readonly prepared: PreparedContent | null;
      readonly check: Authentication | 'later' | null;
    }
  | {
      readonly status: 'failed';
      readonly job: number;
      readonly reason: 'error' | 'memory';
      readonly detail: string;
    };

export type ParsedResult = Extract<ParseResult, { readonly status: 'parsed' }>;

export interface CheckResult {
  readonly job: number;
  readonly authentication: Authentication;
}

/**
 * A question for the DNS. The main thread asks it: a thread that is ended while a datagram comes in takes the process along
 * (Node 20). A thread keeps the answers for as long as they hold.
 */
export interface Question {
  readonly id: number;
  readonly name: string;
  readonly type: DnsType;
  /** For whom it is asked. */
  readonly party: string;
}

export interface Answer extends KeptAnswer {
  readonly id: number;
}

/** What a thread needs to find out who has written a message. */
export interface ChecksSetup {
  /** Domains whose ARC chains are believed; lower case, A-labels. */
  readonly trustedSealers: readonly string[];
  /** How long the DNS may take for one message, in milliseconds. */
  readonly dnsMs: number;
}

/** Passed to a thread at its start. */
export interface ThreadSetup {
  /** Memory outside the JavaScript heap that one message may use. */
  readonly maxExternalBytes: number;
  /** Bytes of text and HTML bodies that may be kept. */
  readonly maxTextBytes: number;
  /** Null where nothing is checked. */
  readonly checks: ChecksSetup | null;
}
