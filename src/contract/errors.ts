import { MAX_BATCH, MAX_PAGE } from './limits.js';

/**
 * Every error of the API: code, HTTP status, meaning. `meaning` is for documentation only; the message that a client
 * receives is written where the error is thrown.
 */
export const ERRORS = {
  invalid_json: { status: 400, meaning: 'The body is not a valid UTF-8 JSON object.' },
  invalid_request: { status: 400, meaning: 'Unsupported or malformed fields.' },
  invalid_inbox: { status: 400, meaning: 'Unsupported inbox fields, or a change without a name field.' },
  invalid_local_part: { status: 400, meaning: 'The address prefix breaks the rule for local parts.' },
  invalid_name: { status: 400, meaning: 'A name has control characters or is too long.' },
  invalid_idempotency_key: { status: 400, meaning: 'The key is not 1 to 128 of A-Z, a-z, 0-9, - and _.' },
  invalid_limit: { status: 400, meaning: `limit is not an integer from 1 to ${MAX_PAGE}.` },
  invalid_cursor: { status: 400, meaning: 'The cursor is malformed or belongs to another list.' },
  invalid_search: { status: 400, meaning: 'Bad query terms, filter, timestamp, order or parameter.' },
  invalid_labels: { status: 400, meaning: 'Bad label names, changes, filter groups or prefix.' },
  invalid_message_ids: { status: 400, meaning: `message_ids is not 1 to ${MAX_BATCH} valid ids.` },
  invalid_message: { status: 400, meaning: 'Bad recipients, subject, body, reply target or attachments.' },
  invalid_draft: { status: 400, meaning: 'Bad draft field, source or listing parameter.' },
  invalid_claim: { status: 400, meaning: 'The phrase is invalid, expired, used or no longer eligible.' },
  unauthorized: { status: 401, meaning: 'The bearer credential is missing or invalid.' },
  origin_not_allowed: { status: 403, meaning: 'The request comes from a foreign web origin.' },
  operation_not_allowed: { status: 403, meaning: 'The account may not send, delete or restore.' },
  recipient_not_allowed: { status: 403, meaning: 'Sending rules block a recipient.' },
  not_found: { status: 404, meaning: 'Missing, deleted, or not of this account.' },
  method_not_allowed: { status: 405, meaning: 'The path exists, but not with this method.' },
  address_unavailable: { status: 409, meaning: 'The address is in use, reserved or retired.' },
  inbox_limit_reached: { status: 409, meaning: 'All inbox slots are used.' },
  storage_limit_reached: { status: 409, meaning: 'The account stores as much as it may.' },
  protected_inbox: { status: 409, meaning: 'This inbox cannot be deleted by its owner.' },
  idempotency_conflict: { status: 409, meaning: 'The key is in use with different input.' },
  idempotency_result_unavailable: { status: 409, meaning: 'What the key produced is no longer there.' },
  reply_not_ready: { status: 409, meaning: 'The source is not ready or not accepted.' },
  reply_headers_unavailable: { status: 409, meaning: 'The target has no usable Message-ID.' },
  reply_recipients_unavailable: { status: 409, meaning: 'Nobody is left to reply to.' },
  draft_busy: { status: 409, meaning: 'Another change of the draft came first.' },
  draft_submitted: { status: 409, meaning: 'The draft has been submitted.' },
  draft_result_unavailable: { status: 409, meaning: 'Submitted, but the sent copy is gone.' },
  request_timeout: { status: 408, meaning: 'The request came too slowly.' },
  cursor_expired: { status: 410, meaning: 'Events after this cursor are no longer kept, or were undone.' },
  body_too_large: { status: 413, meaning: 'The body exceeds the limit of the operation.' },
  message_too_large: { status: 413, meaning: 'The message exceeds the limits of sending.' },
  unsupported_media_type: {
    status: 415,
    meaning: 'Content-Type must be application/json; of bytes, no form.',
  },
  headers_too_large: { status: 431, meaning: 'Request line and headers exceed their limit.' },
  rate_limited: { status: 429, meaning: 'Too many attempts; see Retry-After.' },
  outbound_limit_reached: { status: 429, meaning: 'The 24-hour allowance cannot cover the message.' },
  internal_error: { status: 500, meaning: 'The operation failed; a write may have happened.' },
  insufficient_room: { status: 503, meaning: 'The disk has no room at the moment; nothing was changed.' },
  content_unavailable: { status: 503, meaning: 'Stored content cannot be read, or searched, right now.' },
  outbound_unavailable: { status: 503, meaning: 'The sending side failed; the outcome is unknown.' },
  draft_unavailable: { status: 503, meaning: 'The draft operation is uncertain.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;
