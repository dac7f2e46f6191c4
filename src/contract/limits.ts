/**
 * The limits of the API, each stated once: for the published types, the checks, and the messages of errors. `BYTES`
 * counts bytes of UTF-8, `LENGTH` counts UTF-16 code units, both after trimming where the field is trimmed.
 */

/** The body of a request that holds a few short fields. */
export const SMALL_BODY_BYTES = 4096;

/** The largest `limit` of a page, and the default. */
export const MAX_PAGE = 100;
export const DEFAULT_PAGE = 20;

/** The longest `wait` for an event, in seconds: shorter than the time after which most proxies give up. */
export const MAX_EVENT_WAIT_S = 50;

/** Webhooks of an account. */
export const MAX_WEBHOOKS = 10;
export const MAX_WEBHOOK_URL_LENGTH = 2048;
/** Inboxes that one webhook names; one that names none is told of all. */
export const MAX_WEBHOOK_INBOXES = 100;

/** Messages whose labels one bulk request may change. */
export const MAX_BATCH = 100;

/** Ids of matching messages listed with a thread that a search found. */
export const MAX_MATCHING_IDS = 100;

/** To, Cc and Bcc together. */
export const MAX_RECIPIENTS = 50;

/** An address that mail can be sent to (RFC 5321 section 4.5.3.1.3, less the angle brackets). */
export const MAX_ADDRESS_LENGTH = 254;
/** An address to search for: 64 for the local part, `@`, 255 for the domain (RFC 5321 section 4.5.3.1). */
export const MAX_SOUGHT_ADDRESS_LENGTH = 320;
/** A part of a subject to search for. */
export const MAX_SOUGHT_SUBJECT_LENGTH = 998;
/** Words to search for. */
export const MAX_QUERY_LENGTH = 512;
/** Hits that are put in the order of relevance, the newest of them. */
export const MAX_RANKED = 10_000;

export const MAX_SUBJECT_BYTES = 998;
/** Text, HTML and base64 of the attachments together; also the generated message. */
export const MAX_MESSAGE_BYTES = 5 * 2 ** 20;
export const MAX_FILES = 32;
/** A file that is uploaded before it is attached, and all that an account has uploaded. */
export const MAX_UPLOAD_BYTES = 5 * 2 ** 20;
export const MAX_UPLOADS_BYTES = 64 * 2 ** 20;
export const MAX_FILENAME_BYTES = 255;
/** `type/subtype` of a file (RFC 6838 section 4.2). */
export const MAX_MEDIA_TYPE_LENGTH = 127;

/** Display names of inboxes, senders and recipients. */
export const MAX_NAME_BYTES = 256;

export const MAX_LABEL_BYTES = 128;
/** Labels in one array of a change or of a new message, and in one group of a filter. */
export const MAX_LABELS = 32;
/** Labels of one message. */
export const MAX_LABELS_OF_MESSAGE = 256;

/** Entries in one list of an inbox policy, without duplicates. */
export const MAX_POLICY_ENTRIES = 100;

export const MAX_FEEDBACK_TITLE_BYTES = 200;

/** An optional answer in `createClaim`; a longer one is ignored. */
export const MAX_ANSWER_LENGTH = 500;
/** Characters (code points) of a preview. */
export const MAX_PREVIEW_LENGTH = 300;

/** Regular expressions used both by the published types and by the checks. */
export const PATTERNS = {
  idempotencyKey: '^[A-Za-z0-9_-]{1,128}$',
  /** The id of a message that another one refers to. */
  messageRef: '^[a-f0-9-]{36}$',
  mediaType: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
  base64: '^[A-Za-z0-9+/]*={0,2}$',
} as const;

/** The most bytes that the body of a request may have on the wire. */
export const BODY_BYTES = {
  small: 4096,
  labels: 20_480,
  labelsOfMany: 32_768,
  feedback: 20_480,
  webhook: 16_384,
  message: 8_388_608,
} as const;
