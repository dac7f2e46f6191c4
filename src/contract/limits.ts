/**
 * The limits of the API, each in this one place: the published types tell them, the rules check them, and the words
 * of a refusal name them. Bytes are bytes of UTF-8, lengths are units of UTF-16, both after trimming where the field
 * is trimmed.
 */

/** The body of a request that holds a few short fields. */
export const SMALL_BODY_BYTES = 4096;

/** Entries of a page that `limit` may ask for, and what it gets that asks for none. */
export const MAX_PAGE = 100;
export const DEFAULT_PAGE = 20;

/** Messages whose labels one call changes. */
export const MAX_BATCH = 100;

/** Ids of matching messages that a conversation in a search tells. */
export const MAX_MATCHING_IDS = 100;

/** To, Cc and Bcc together. */
export const MAX_RECIPIENTS = 50;

/** An address that mail can be sent to (RFC 5321 section 4.5.3.1.3, less the angle brackets). */
export const MAX_ADDRESS_LENGTH = 254;
/** One that somebody looks for: 64 for the local part, 255 for the domain (RFC 5321 section 4.5.3.1). */
export const MAX_SOUGHT_ADDRESS_LENGTH = 320;
/** A part of a subject that somebody looks for. */
export const MAX_SOUGHT_SUBJECT_LENGTH = 998;

export const MAX_SUBJECT_BYTES = 998;
/** Text, HTML and base64 of the attachments together, and the generated message. */
export const MAX_MESSAGE_BYTES = 5 * 2 ** 20;
export const MAX_FILES = 32;
export const MAX_FILENAME_BYTES = 255;
/** `type/subtype` of a file (RFC 6838 section 4.2). */
export const MAX_MEDIA_TYPE_LENGTH = 127;

/** Display names of inboxes, senders and recipients. */
export const MAX_NAME_BYTES = 256;

export const MAX_LABEL_BYTES = 128;
/** Names in one array of a change or of a new message, and in one group of a filter. */
export const MAX_LABELS = 32;

/** Entries of one list of the rules of an inbox, each counted once. */
export const MAX_POLICY_ENTRIES = 100;

export const MAX_FEEDBACK_TITLE_BYTES = 200;

/** What a claimer says about itself; longer answers are ignored. */
export const MAX_ANSWER_LENGTH = 500;

/** Regular expressions that the published types show and the rules apply. */
export const PATTERNS = {
  idempotencyKey: '^[A-Za-z0-9_-]{1,128}$',
  /** The id of a message that another one refers to. */
  messageRef: '^[a-f0-9-]{36}$',
  mediaType: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
  base64: '^[A-Za-z0-9+/]*={0,2}$',
} as const;

/** Bytes that the body of a request may have, as it is sent. */
export const BODY_BYTES = {
  small: 4096,
  labels: 20_480,
  labelsOfMany: 32_768,
  feedback: 20_480,
  message: 8_388_608,
} as const;
