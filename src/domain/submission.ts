/**
 * What an agent sends: wire contract section 2 (`Mailbox`, `StoredAttachment`, `Submission`). Everything here
 * has passed the checks of `normalise-submission.ts`.
 */

/** A mailbox as an agent writes it (RFC 5322 section 3.4). Without a display name there is no `name`. */
export interface Mailbox {
  /** Bare ASCII address, letter case as given. */
  readonly address: string;
  /** Trimmed, never blank, no control characters. */
  readonly name?: string;
}

/** Recipients in order; one address may stand in them more than once, and each entry is charged. */
export interface Recipients {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
}

/** What a file of an outgoing message is called and how it is shown (RFC 2183). */
export interface FileDescription {
  readonly filename: string;
  /** `type/subtype` without parameters. */
  readonly type: string;
  readonly disposition: 'attachment' | 'inline';
  /** Without angle brackets (RFC 2392); only of files that a forward took over. */
  readonly contentId?: string;
}

/** Header fields of a reply, as transmitted: ids in angle brackets (RFC 5322 section 3.6.4). */
export interface ReplyHeaders {
  readonly inReplyTo: string;
  readonly references: string;
}
