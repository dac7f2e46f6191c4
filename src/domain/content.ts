/**
 * The prepared content of a received message: specification, "Received message detail", and wire
 * contract section 2 (`ReceivedContent`). Every field is present; absence is `null` or an empty list.
 */

/** A mailbox as a header shows it (RFC 5322 section 3.4). `name` is `""` when there is no display name. */
export interface ParsedMailbox {
  readonly name: string;
  readonly address: string;
}

/** A group of mailboxes (RFC 5322 section 3.4). */
export interface ParsedGroup {
  readonly name: string;
  readonly group: readonly ParsedMailbox[];
}

export type ParsedAddress = ParsedMailbox | ParsedGroup;

/** What is said of one attachment; its bytes are downloaded by `id`. */
export interface AttachmentMetadata {
  /** Unique within the message; opaque to clients. */
  readonly id: string;
  /** A name that is safe as a file name, or null. */
  readonly filename: string | null;
  /** Decoded size in bytes. */
  readonly size: number;
  /** `type/subtype`, lower case, without parameters. */
  readonly mime_type: string;
  /** The disposition type as sent, lower case (RFC 2183), or null. */
  readonly disposition: string | null;
  /** Content-ID without angle brackets (RFC 2045 section 7), or null. */
  readonly content_id: string | null;
  /** True when the part stands inside a `multipart/related` (RFC 2387). */
  readonly related: boolean;
}

export interface ReceivedContent {
  readonly from: ParsedAddress | null;
  readonly sender: ParsedAddress | null;
  readonly reply_to: readonly ParsedAddress[];
  readonly to: readonly ParsedAddress[];
  readonly cc: readonly ParsedAddress[];
  readonly bcc: readonly ParsedAddress[];
  readonly subject: string | null;
  readonly message_id: string | null;
  /** Unfolded header text. */
  readonly in_reply_to: string | null;
  /** Unfolded header text. */
  readonly references: string | null;
  /** ISO 8601 in UTC when the Date header parses, else the header text as written; null when absent or empty. */
  readonly date: string | null;
  readonly text: string | null;
  readonly html: string | null;
  readonly attachments: readonly AttachmentMetadata[];
}

/** The Message-IDs, without brackets, that threading follows (RFC 5322 section 3.6.4). */
export interface ThreadIds {
  readonly messageId: string | null;
  readonly references: readonly string[];
  readonly inReplyTo: readonly string[];
}
