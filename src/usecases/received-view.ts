import { toInstant } from '../domain/instants.js';
import type { ReceivedRecord } from '../store/messages.js';

/**
 * How a received message looks to an agent (specification, "Received message summary" and "detail").
 * The summary is encoded once, when the message changes, and kept as the bytes that lists answer with.
 */

function commonFields(record: ReceivedRecord): object {
  return {
    id: record.id,
    inbox_id: record.inboxId,
    thread_id: record.threadId,
    envelope_from: record.envelopeFrom,
    envelope_to: record.envelopeTo,
    subject: record.subject,
    received_at: toInstant(record.receivedAt),
    processing_status: record.status,
  };
}

/** One entry of a list. `from` is shown only of a ready message. */
export function encodeSummary(record: ReceivedRecord): Buffer {
  const sender = record.status === 'ready' ? { from: record.from } : {};
  return Buffer.from(JSON.stringify({ ...commonFields(record), ...sender, labels: record.labels }), 'utf8');
}

/** Everything of the detail but `content`. */
export function detailFields(record: ReceivedRecord): object {
  return {
    ...commonFields(record),
    labels: record.labels,
    message_id: record.messageId,
    raw_size: record.raw.size,
    processed_at: record.processedAt === null ? null : toInstant(record.processedAt),
  };
}
