import type { ReceivedContent, ThreadIds } from '../domain/content.js';

/** What parsing a message yields. */
export interface ParsedMessage {
  readonly content: ReceivedContent;
  readonly ids: ThreadIds;
}

/**
 * Takes the decoded bytes of attachments as they appear, one attachment at a time, in the order of
 * `content.attachments`. The parser awaits each promise, so a slow sink slows the parser: that is the
 * back-pressure. A chunk belongs to the sink once it is handed over; the parser never touches it again.
 */
export interface AttachmentSink {
  /** Starts the next attachment; `id` is the id that `content.attachments` will give it. */
  begin(id: string): void | Promise<void>;
  /** The next decoded bytes of the attachment that was begun last. */
  write(chunk: Uint8Array): void | Promise<void>;
  /** The attachment is complete; `size` is the number of its decoded bytes. */
  end(size: number): void | Promise<void>;
}
