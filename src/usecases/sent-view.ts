import { toInstant } from '../domain/instants.js';
import { recipientCount, type SentRecord } from '../store/sent.js';

/** How a sent message looks to an agent (specification, SentMetadata). */
export interface SentMetadata {
  readonly id: string;
  readonly inbox_id: string;
  readonly created_at: string;
  readonly recipient_count: number;
  readonly status: SentRecord['status'];
  readonly provider_message_id: string | null;
  readonly error_code: string | null;
  readonly thread_id: string | null;
  readonly in_reply_to: string | null;
  readonly labels: readonly string[];
}

export function viewSent(record: SentRecord): SentMetadata {
  return {
    id: record.id,
    inbox_id: record.inboxId,
    created_at: toInstant(record.createdAt),
    recipient_count: recipientCount(record),
    status: record.status,
    provider_message_id: record.status === 'accepted' ? `<${record.messageId}>` : null,
    error_code: record.errorCode,
    thread_id: record.threadId,
    in_reply_to: record.inReplyTo,
    labels: record.labels,
  };
}

/** One entry of a list, encoded once, when the message changes. */
export function encodeSentSummary(record: SentRecord): Buffer {
  return Buffer.from(JSON.stringify(viewSent(record)), 'utf8');
}
