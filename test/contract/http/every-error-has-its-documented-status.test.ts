import t from 'tap';
import { ERRORS } from '../../../src/contract/errors.js';

/** The codes that clients have been promised, by status: written down by hand, apart from src/contract/errors.ts. */
const DOCUMENTED: Record<number, string> = {
  400: `invalid_json invalid_inbox invalid_local_part invalid_name invalid_idempotency_key invalid_limit
    invalid_cursor invalid_search invalid_labels invalid_message_ids invalid_message invalid_draft
    invalid_request invalid_claim invalid_webhook`,
  401: 'unauthorized',
  403: 'operation_not_allowed recipient_not_allowed origin_not_allowed',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: `address_unavailable inbox_limit_reached idempotency_conflict idempotency_result_unavailable
    protected_inbox reply_not_ready reply_headers_unavailable reply_recipients_unavailable draft_busy
    draft_submitted draft_result_unavailable storage_limit_reached
    webhook_limit_reached`,
  410: 'cursor_expired',
  413: 'body_too_large message_too_large',
  415: 'unsupported_media_type',
  429: 'outbound_limit_reached rate_limited',
  431: 'headers_too_large',
  500: 'internal_error',
  503: 'insufficient_room content_unavailable outbound_unavailable draft_unavailable',
};

t.test('no code is missing, none is more, and each has its status', async t => {
  const documented = Object.entries(DOCUMENTED).flatMap(([status, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(status)]),
  );
  const ours = Object.entries(ERRORS).map(([code, { status }]): [string, number] => [code, status]);
  t.strictSame(Object.fromEntries(ours.sort()), Object.fromEntries(documented.sort()));
});
