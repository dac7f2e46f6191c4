import type { ParsedAddress, ThreadIds } from '../domain/content.js';
import type { MessageId } from '../domain/ids.js';
import type { AttachmentSink } from '../mail/parsed-message.js';

/** The outside world as use cases see it; adaptors implement these, the composition root joins them. */

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** Structured log lines, one object each (`ops/logging.ts`). Never give it bodies, keys or header values. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}

/**
 * The way from "stored" to "someone works on it". An offer is a hint: it never blocks, never throws and
 * may be dropped (Redis down, process ended), because the store's pending index is the truth and the
 * reconciler offers again.
 */
export interface ParseQueue {
  offer(ids: readonly MessageId[]): void;
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
  /** Of the attachments, in the order of the content. */
  readonly filenames: readonly (string | null)[];
  readonly ids: ThreadIds;
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

/** Parses off the main thread, within limits of time and memory. Never throws for what a message does. */
export interface MessageParser {
  parse(source: AsyncIterable<Uint8Array>, sink: AttachmentSink): Promise<ParseOutcome>;
}
