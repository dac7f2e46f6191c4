import type { PreparedContent } from '../usecases/ports.js';

/**
 * What the pool and its threads say to each other. A thread works on one message at a time; `job` numbers
 * the message, so that a late word about an earlier one is recognised.
 *
 *   small message:  message ------------------------------> parsed (with the attachments' bytes)
 *   others:         begin, chunk ..., end ----------------> taken ..., attachments ..., parsed
 *
 * Both streams have a window: the pool sends no more than `SOURCE_WINDOW` bytes that were not `taken`, the
 * thread no more than `SINK_WINDOW` bytes that were not acknowledged by `stored`.
 */

/** Up to here a message travels in one post. */
export const SMALL_MESSAGE = 256 * 1024;
export const SOURCE_WINDOW = 512 * 1024;
export const SINK_WINDOW = 1024 * 1024;
/** The largest piece of a message in one post. */
export const SOURCE_PIECE = 64 * 1024;
/** Attachment bytes are gathered up to here before they are posted. */
export const SINK_BATCH = 256 * 1024;

export type ToThread =
  | { readonly kind: 'message'; readonly job: number; readonly bytes: Uint8Array }
  | { readonly kind: 'begin'; readonly job: number }
  | { readonly kind: 'chunk'; readonly job: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly job: number }
  /** The source or the sink failed on our side: give the message up. */
  | { readonly kind: 'abandon'; readonly job: number }
  | { readonly kind: 'stored'; readonly job: number; readonly bytes: number };

/** The calls of an `AttachmentSink`, in order. Bytes may be cut differently than the parser wrote them. */
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

/** What a thread is told at its start. */
export interface ThreadSetup {
  /** Memory outside the JavaScript heap that one message may take. */
  readonly maxExternalBytes: number;
  /** Bytes of text and HTML bodies that may be kept. */
  readonly maxTextBytes: number;
}
