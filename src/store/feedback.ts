import type { AccountId, FeedbackId } from '../domain/ids.js';
import { idToBytes } from '../domain/ids.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, type Table } from './table.js';

/** What an agent told the operator. */
export interface FeedbackRecord {
  readonly id: FeedbackId;
  readonly accountId: AccountId;
  readonly createdAt: number;
  readonly title: string | null;
  readonly body: string;
}

export const feedbackTable: Table<FeedbackId, FeedbackRecord> = {
  name: 'feedback',
  encodeKey: idToBytes,
  ...jsonValue<FeedbackRecord>(1),
};

export function putFeedback(writer: Writer, feedback: FeedbackRecord): void {
  writer.put(feedbackTable, feedback.id, feedback);
}

/** Newest first, those before `before`. */
export function scanFeedback(reader: Reader, before: FeedbackId | null, limit: number): FeedbackRecord[] {
  const to = before === null ? Buffer.alloc(17, 0xff) : idToBytes(before);
  return reader
    .scan(feedbackTable, { from: Buffer.alloc(16), to, reverse: true, limit })
    .map(entry => entry.value);
}
