import { toInstant } from '../domain/instants.js';
import type { ReceivedRecord } from '../store/messages.js';

/**
 * How a received message looks to an agent (specification, "Received message summary" and "detail").
 * The summary is encoded once, when the message changes, and kept as the bytes that lists answer with.
 */

/** One literal: objects that are put together by spreading take twice as long to be encoded. */
function commonFields(record: ReceivedRecord, from: ReceivedRecord['from'] | undefined): object {
  return {
    id: record.id,
    inbox_id: record.inboxId,
    // A message that is parsed again keeps its place in its conversation and is not shown there.
    thread_id: record.status === 'ready' ? record.threadId : null,
    envelope_from: record.envelopeFrom,
    envelope_to: record.envelopeTo,
    subject: record.subject,
    received_at: toInstant(record.receivedAt),
    processing_status: record.status,
    // Left out where it is undefined.
    from,
    labels: record.labels,
  };
}

/** One entry of a list. `from` is shown only of a ready message. */
export function encodeSummary(record: ReceivedRecord): Buffer {
  const from = record.status === 'ready' ? record.from : undefined;
  return Buffer.from(JSON.stringify(commonFields(record, from)), 'utf8');
}

/** Everything of the detail but `content`. */
export function detailFields(record: ReceivedRecord): object {
  return {
    ...commonFields(record, undefined),
    message_id: record.messageId,
    raw_size: record.raw.size,
    processed_at: record.processedAt === null ? null : toInstant(record.processedAt),
  };
}
