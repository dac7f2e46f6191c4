import { idFromBytes, type MessageId } from '../../domain/ids.js';
import { joinKey, range, u8, WHOLE_TABLE } from '../engine/keys.js';
import type { Table, Writer } from '../engine/tables.js';
import { bytesOf, countBytes, getMessage, getSent, messagesTable, sentTable } from '../mailbox/messages.js';
import { bytesOfFeedback, feedbackTable } from '../records/approvals.js';
import { bytesOfDraft, draftsTable } from '../records/drafts.js';
import { countDraftBytes, countStored } from '../records/storage.js';
import type { Migration } from './0001-initial-schema.js';

/**
 * Counts what accounts store: the bytes of messages for their folders and accounts, those of drafts and feedback. The
 * position is the number of a walk and the last key that it has come to; each record is counted in the unit that moves
 * the position past it, so none is counted twice.
 */
export const storedBytesAreCounted: Migration = {
  name: 'stored bytes are counted',
  up: () => {},
  more: (writer, _nowMs, position) => {
    const at = position?.[0] ?? 0;
    const walk = WALKS[at];
    if (walk === undefined) return null;
    const after = position === null || position.length < 2 ? null : position.subarray(1);
    const last = walk(writer, after);
    if (last !== null) return joinKey(u8(at), last);
    return at + 1 < WALKS.length ? u8(at + 1) : null;
  },
};

/** Records of one unit, which takes some milliseconds. */
const RECORDS_PER_UNIT = 500;

/** Goes on after a key; says at which it has stopped, null at the end. */
type Walk = (writer: Writer, after: Buffer | null) => Buffer | null;

const WALKS: readonly Walk[] = [
  walkOf(messagesTable, (writer, key) => {
    const record = getMessage(writer, idFromBytes<MessageId>(key));
    if (record !== undefined) countBytes(writer, record, bytesOf(record));
  }),
  walkOf(sentTable, (writer, key) => {
    const record = getSent(writer, idFromBytes<MessageId>(key));
    if (record !== undefined) countBytes(writer, record, bytesOf(record));
  }),
  walkOf(draftsTable, (writer, key) => {
    const draft = writer.get(draftsTable, idFromBytes(key));
    if (draft !== undefined) countDraftBytes(writer, draft.inboxId, bytesOfDraft(draft));
  }),
  walkOf(feedbackTable, (writer, key) => {
    const feedback = writer.get(feedbackTable, idFromBytes(key));
    if (feedback !== undefined) countStored(writer, feedback.accountId, bytesOfFeedback(feedback));
  }),
];

function walkOf<Key, Value>(table: Table<Key, Value>, visit: (writer: Writer, key: Buffer) => void): Walk {
  return (writer, after) => {
    const keys = writer.scanKeys(table, { ...range(WHOLE_TABLE, after), limit: RECORDS_PER_UNIT });
    for (const key of keys) visit(writer, key);
    return keys.length < RECORDS_PER_UNIT ? null : (keys.at(-1) ?? null);
  };
}
