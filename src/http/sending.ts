import type { ErrorCode, Result } from '../domain/errors.js';
import type { SendReceipt } from '../usecases/send-request.js';
import { failed, json, type Reply } from './route.js';
import { FirstSendReceipt, ReplayedSendReceipt } from './schemas/sent.js';

/** What all ways of sending have in common over HTTP. */

/** Specification, Limits: JSON of a send. */
export const SEND_LIMIT = 8_388_608;

/** What a bad value of these fields answers, on every way of sending. */
export const SEND_FIELD_CODES = {
  labels: 'invalid_labels',
  idempotency_key: 'invalid_idempotency_key',
} as const;

/** Codes of failure of every way of sending (wire contract 1.4). */
export const SEND_ERRORS: readonly ErrorCode[] = [
  'invalid_message',
  'invalid_name',
  'invalid_labels',
  'invalid_idempotency_key',
  'operation_not_allowed',
  'recipient_not_allowed',
  'not_found',
  'reply_not_ready',
  'reply_headers_unavailable',
  'idempotency_conflict',
  'idempotency_result_unavailable',
  'message_too_large',
  'outbound_limit_reached',
  'content_unavailable',
  'outbound_unavailable',
];

/** 201 for a new attempt, whatever became of it; 200 for a replay. */
export function receiptReply(sent: Result<SendReceipt>): Reply {
  if (!sent.ok) return failed(sent);
  const receipt = sent.value;
  return json(receipt.replayed === true ? 200 : 201, receipt, { Location: `/v1/sent/${receipt.message.id}` });
}

/** What every way of sending answers with. */
export const RECEIPT_RESPONSES = {
  201: {
    description: 'The attempt that was made; status says what became of it.',
    schema: FirstSendReceipt,
    headers: ['Location'],
  },
  200: {
    description: 'The attempt that the key stands for, as it is now; nothing was sent again.',
    schema: ReplayedSendReceipt,
    headers: ['Location'],
  },
} as const;
