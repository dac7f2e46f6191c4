import type { ReceivedContent } from '../../contract/messages.js';
import type { ThreadIds } from '../../domain/message-ids.js';

/**
 * Bounds on what the parser keeps of one message. Past a bound the message is still parsed, with what
 * lies beyond left out: a hostile message costs linear time and bounded memory, and never its envelope.
 */
export interface ParseLimits {
  /** Bytes kept of the header fields we read, for each part; fields we do not read cost nothing. */
  readonly headerBytes: number;
  /** Bytes kept of a single header field; it is cut at a comma or white space before this. */
  readonly headerFieldBytes: number;
  /** Lines kept of the header fields we read, for each part, folded lines counted one by one. */
  readonly headerLines: number;
  /** Parameters read of one Content-Type or Content-Disposition (RFC 2045 section 5.1). */
  readonly parameters: number;
  /** Addresses read of one header field, members of groups included. */
  readonly addresses: number;
  /** Encoded words decoded in one value (RFC 2047); the rest stays as written. */
  readonly encodedWords: number;
  /** Message-IDs taken from References or In-Reply-To; the last ones are kept, being the nearest. */
  readonly threadIds: number;
  /** Parts that carry content; the message counts as ended where one more would begin. */
  readonly parts: number;
  /** Multiparts inside each other; a deeper one becomes an attachment with its bytes as they are. */
  readonly nesting: number;
  /** Decoded bytes kept of all text and HTML bodies together; the bodies are cut there. */
  readonly textBytes: number;
}

export const defaultParseLimits: ParseLimits = {
  headerBytes: 512 * 1024,
  headerFieldBytes: 128 * 1024,
  headerLines: 10_000,
  parameters: 200,
  addresses: 5_000,
  encodedWords: 2_000,
  threadIds: 2_000,
  parts: 1_000,
  nesting: 100,
  // As much as a message may weigh by default, so that nothing we accepted is cut.
  textBytes: 26_214_400,
};

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
