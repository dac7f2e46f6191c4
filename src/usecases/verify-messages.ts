import { type InboxId, idFromBytes, type MessageId } from '../domain/ids.js';
import { blockOf, hasBit, offsetOf } from '../store/bit-block.js';
import { getInbox } from '../store/inboxes.js';
import { summariesTable } from '../store/mailboxes.js';
import { contentsTable, messagesTable, type ReceivedRecord } from '../store/messages.js';
import { getBlock, termKey } from '../store/postings.js';
import type { Reader } from '../store/reader-writer.js';
import { trashNumbersTable, trashTable } from '../store/trash.js';
import { blobEntry } from '../store/verify-blobs.js';
import type { Ledger } from '../store/verify-ledger.js';
import { pendingEntry } from '../store/verify-pending.js';
import { type MailboxTally, mailboxEntry, tallyKey } from '../store/verify-sets.js';
import { walkTable } from '../store/walk-table.js';
import { encodeSummary } from './received-view.js';

const entry = {
  content: (id: string): string => `content of message ${id}`,
  trash: (inboxId: string, number: number, id: string, restorableUntil: number): string =>
    `Trash entry ${number} of inbox ${inboxId}: message ${id}, restorable until ${restorableUntil}`,
};

export interface MessageFacts {
  readonly messages: number;
  readonly trashed: number;
  readonly tallies: ReadonlyMap<string, MailboxTally>;
}

/** Walks the records of messages and expects of every index what they come to. */
export function expectMessages(
  reader: Reader,
  ledger: Ledger,
  isLeaving: (inboxId: InboxId) => boolean,
): MessageFacts {
  const tallies = new Map<string, MailboxTally>();
  let messages = 0;
  let trashed = 0;
  for (const { value: record } of walkTable(reader, messagesTable)) {
    messages += 1;
    const tally = tallyOf(tallies, record);
    tally.lastSeq = Math.max(tally.lastSeq, record.seq);
    tally.lastAt = Math.max(tally.lastAt, record.receivedAt);
    if (record.trash === null) {
      tally.live += 1;
      expectLive(reader, ledger, record, isLeaving(record.inboxId));
    } else {
      trashed += 1;
      expectTrashed(reader, ledger, record, record.trash);
    }
    expectState(ledger, record);
    for (const blob of [record.raw, ...record.attachments.map(attachment => attachment.blob)]) {
      ledger.expect(blobEntry(blob));
    }
    if (getInbox(reader, record.inboxId) === undefined && !isLeaving(record.inboxId)) {
      ledger.expect(`inbox ${record.inboxId} of message ${record.id}`);
    }
  }
  return { messages, trashed, tallies };
}

function tallyOf(tallies: Map<string, MailboxTally>, record: ReceivedRecord): MailboxTally {
  const key = tallyKey(record);
  let tally = tallies.get(key);
  if (tally === undefined) {
    tally = { live: 0, lastSeq: 0, lastAt: 0 };
    tallies.set(key, tally);
  }
  return tally;
}

function expectLive(reader: Reader, ledger: Ledger, record: ReceivedRecord, isLeaving: boolean): void {
  const { seq, labels, senders, recipients } = record;
  ledger.expect(mailboxEntry.summary(record, seq));
  const summary = reader.get(summariesTable, record);
  if (summary !== undefined && !summary.equals(encodeSummary(record))) {
    ledger.expect(`agreement of message ${record.id} with its line in lists`);
  }
  for (const label of labels) ledger.expect(mailboxEntry.member(record, seq, { type: 'label', label }));
  for (const address of senders) ledger.expect(mailboxEntry.member(record, seq, { type: 'from', address }));
  for (const address of recipients) {
    ledger.expect(mailboxEntry.member(record, seq, { type: 'recipient', address }));
  }
  if (!isLeaving) ledger.find(mailboxEntry.number(record, seq));
}

function expectTrashed(
  reader: Reader,
  ledger: Ledger,
  { id, inboxId, kind, seq }: ReceivedRecord,
  { number, restorableUntil }: NonNullable<ReceivedRecord['trash']>,
): void {
  ledger.expect(entry.trash(inboxId, number, id, restorableUntil));
  ledger.expect(pendingEntry.purgeTrash(id, kind, restorableUntil));
  const gone = getBlock(reader, termKey({ inboxId, kind }, { type: 'gone' }), blockOf(seq));
  if (gone === undefined || !hasBit(gone, offsetOf(seq))) {
    ledger.expect(`mark that message ${id} in Trash is in no list`);
  }
  if (number > (reader.get(trashNumbersTable, inboxId) ?? 0)) {
    ledger.expect(`last Trash number of inbox ${inboxId}, ${number} at least`);
  }
}

/** Its state, its pending entry and its content agree. */
function expectState(ledger: Ledger, record: ReceivedRecord): void {
  const { id, status, parseDueAt, content } = record;
  const isFinished = status === 'ready' || status === 'failed';
  if (parseDueAt !== null) ledger.expect(pendingEntry.parse(id, parseDueAt));
  if (isFinished !== (parseDueAt === null))
    ledger.expect(`agreement of message ${id}, ${status}, with when it is due`);
  if ((status === 'ready') !== (content !== null))
    ledger.expect(`agreement of message ${id}, ${status}, with its content`);
  if (content?.in === 'record') ledger.expect(entry.content(id));
  if (content?.in === 'blob') ledger.expect(blobEntry(content.blob));
}

/** Finds the contents that lie beside records. */
export function findContents(reader: Reader, ledger: Ledger): void {
  for (const { key } of walkTable(reader, contentsTable))
    ledger.find(entry.content(idFromBytes<MessageId>(key)));
}

/** Finds what Trash holds. */
export function findTrash(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, trashTable)) {
    const inboxId = idFromBytes<InboxId>(key);
    ledger.find(entry.trash(inboxId, key.readUIntBE(16, 6), value.id, value.restorableUntil));
  }
}
