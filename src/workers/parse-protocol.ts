import type { PreparedContent } from '../usecases/ports.js';

/**
 * The protocol between the pool and its threads. A thread works on one message at a time. `job` is the number of the
 * message, by which a late answer about an earlier one is recognised and ignored.
 *
 *   small message:  message ------------------------------> parsed (with the attachments' bytes)
 *   others:         begin, chunk ..., end ----------------> taken ..., attachments ..., parsed
 *
 * Both streams have flow control: the pool sends at most `SOURCE_WINDOW` bytes that were not acknowledged by `taken`,
 * the thread at most `SINK_WINDOW` bytes that were not acknowledged by `stored`.
 */

/** A message of up to this many bytes is posted whole. */
export const SMALL_MESSAGE = 256 * 1024;
export const SOURCE_WINDOW = 512 * 1024;
export const SINK_WINDOW = 1024 * 1024;
/** Most bytes of a larger message in one post. */
export const SOURCE_PIECE = 64 * 1024;
/** Attachments are posted whenever this many bytes of them have been gathered. */
export const SINK_BATCH = 256 * 1024;

export type ToThread =
  | { readonly kind: 'message'; readonly job: number; readonly bytes: Uint8Array }
  | { readonly kind: 'begin'; readonly job: number }
  | { readonly kind: 'chunk'; readonly job: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly job: number }
  /** The source or the sink has failed: the thread is to give up the message. */
  | { readonly kind: 'abandon'; readonly job: number }
  | { readonly kind: 'stored'; readonly job: number; readonly bytes: number };

/** A call of an `AttachmentSink`, in order. Its bytes may be divided differently than the parser wrote them. */
export type SinkCall =
  | { readonly call: 'begin'; readonly id: string }
  | { readonly call: 'write'; readonly bytes: Uint8Array }
  | { readonly call: 'end'; readonly size: number };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'taken'; readonly job: number; readonly bytes: number }
  | {
      readonly kind: 'attachments';
      readonly job: number;
      readonly calls: readonly SinkCall[];
      readonly bytes: number;
    }
  | {
      readonly kind: 'parsed';
      readonly job: number;
      readonly prepared: PreparedContent;
      readonly calls: readonly SinkCall[];
    }
  | {
      readonly kind: 'failed';
      readonly job: number;
      readonly reason: 'error' | 'memory';
      readonly detail: string;
    };

/** Passed to a thread at its start. */
export interface ThreadSetup {
  /** Memory outside the JavaScript heap that one message may use. */
  readonly maxExternalBytes: number;
  /** Bytes of text and HTML bodies that may be kept. */
  readonly maxTextBytes: number;
}
