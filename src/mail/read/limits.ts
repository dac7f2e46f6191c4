import type { ReceivedContent } from '../../contract/messages.js';
import type { MailReport } from '../../domain/delivery-reports.js';
import type { ThreadingIds } from '../../domain/message-ids.js';
import type { AttachedFile } from '../../domain/message-parts.js';

/**
 * Limits on what the parser keeps of one message. A message that exceeds one is still parsed; what is over the limit is
 * left out. So a hostile message takes linear time and bounded memory, and is never refused for it.
 */
export interface ParseLimits {
  /** Bytes kept of the header fields that are read, for each part. Fields that are not read do not count. */
  readonly headerBytes: number;
  /** Bytes kept of one header field; a longer one is cut at the last comma or white space before. */
  readonly headerFieldBytes: number;
  /** Lines kept of the header fields that are read, for each part. Each folded line counts. */
  readonly headerLines: number;
  /** Parameters read of one Content-Type or Content-Disposition (RFC 2045 section 5.1). */
  readonly parameters: number;
  /** Addresses read of one header field, members of groups included. */
  readonly addresses: number;
  /** Message-IDs taken from References or In-Reply-To: the last ones, which are the nearest ancestors. */
  readonly threadIds: number;
  /** Parts of a message; it counts as ended where one more would begin. */
  readonly parts: number;
  /** Depth of nested multiparts; a deeper one becomes an attachment with its bytes undecoded. */
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
  threadIds: 2_000,
  parts: 1_000,
  nesting: 100,
  // The default of the configuration key smtp.max_message_bytes, so that no accepted message is cut.
  textBytes: 26_214_400,
};

/** The result of `parseMessage`. */
export interface ParsedMessage {
  readonly content: ReceivedContent;
  /** Those of `content.attachments`, in their order. */
  readonly files: readonly AttachedFile[];
  readonly ids: ThreadingIds;
  /** What it reports of a message that was sent from here; null for ordinary mail. */
  readonly report: MailReport | null;
}
