import { type InboxId, idFromBytes, type MessageId } from '../domain/ids.js';
import { blockOf, hasBit, offsetOf } from '../store/bit-block.js';
import { getInbox } from '../store/inboxes.js';
import type { IndexedMessage } from '../store/mailbox-index.js';
import { summariesTable } from '../store/mailboxes.js';
import { contentsTable, messagesTable, type ReceivedRecord } from '../store/messages.js';
import { getBlock, termKey } from '../store/postings.js';
import type { Reader } from '../store/reader-writer.js';
import { type SentRecord, sentContentsTable, sentTable } from '../store/sent.js';
import type { Table } from '../store/table.js';
import { trashNumbersTable, trashTable } from '../store/trash.js';
import { blobEntry } from '../store/verify-blobs.js';
import type { Ledger } from '../store/verify-ledger.js';
import { pendingEntry } from '../store/verify-pending.js';
import { type MailboxTally, mailboxEntry, tallyKey } from '../store/verify-sets.js';
import { expectMember } from '../store/verify-threads.js';
import { walkTable } from '../store/walk-table.js';
import { encodeSummary } from './received-view.js';
import { encodeSentSummary } from './sent-view.js';

const messageEntry = {
  content: (kind: string, id: string): string => `content of ${kind} message ${id}`,
  trash: (inboxId: string, number: number, kind: string, id: string, restorableUntil: number): string =>
    `Trash entry ${number} of inbox ${inboxId}: ${kind} message ${id}, restorable until ${restorableUntil}`,
};

export interface MessageFacts {
  readonly received: number;
  readonly sent: number;
  readonly trashed: number;
  readonly tallies: ReadonlyMap<string, MailboxTally>;
}

/** Walks the records of messages and expects of every index what they come to. */
export function expectMessages(
  reader: Reader,
  ledger: Ledger,
  isLeaving: (inboxId: InboxId) => boolean,
): MessageFacts {
  const walk = new MessageWalk(reader, ledger, isLeaving);
  let received = 0;
  for (const { value: record } of walkTable(reader, messagesTable)) {
    walk.expect(record, record.receivedAt, encodeSummary);
    expectReceived(ledger, record);
    received += 1;
  }
  let sent = 0;
  for (const { value: record } of walkTable(reader, sentTable)) {
    walk.expect(record, record.createdAt, encodeSentSummary);
    expectSent(ledger, record);
    sent += 1;
  }
  return { received, sent, trashed: walk.trashed, tallies: walk.tallies };
}

/** What is expected of messages of either kind. */
class MessageWalk {
  readonly tallies = new Map<string, MailboxTally>();
  trashed = 0;
  readonly #reader: Reader;
  readonly #ledger: Ledger;
  readonly #isLeaving: (inboxId: InboxId) => boolean;

  constructor(reader: Reader, ledger: Ledger, isLeaving: (inboxId: InboxId) => boolean) {
    this.#reader = reader;
    this.#ledger = ledger;
    this.#isLeaving = isLeaving;
  }

  expect<Message extends IndexedMessage & { readonly messageId: string | null }>(
    record: Message,
    at: number,
    encode: (record: Message) => Buffer,
  ): void {
    const tally = this.#tallyOf(record);
    tally.lastSeq = Math.max(tally.lastSeq, record.seq);
    tally.lastAt = Math.max(tally.lastAt, at);
    if (record.trash === null) {
      tally.live += 1;
      this.#expectLive(record, encode);
    } else {
      this.trashed += 1;
      this.#expectTrashed(record, record.trash);
    }
    expectMember(this.#reader, this.#ledger, record);
    if (getInbox(this.#reader, record.inboxId) === undefined && !this.#isLeaving(record.inboxId)) {
      this.#ledger.expect(`inbox ${record.inboxId} of message ${record.id}`);
    }
  }

  #tallyOf(record: IndexedMessage): MailboxTally {
    const key = tallyKey(record);
    let tally = this.tallies.get(key);
    if (tally === undefined) {
      tally = { live: 0, lastSeq: 0, lastAt: 0 };
      this.tallies.set(key, tally);
    }
    return tally;
  }

  #expectLive<Message extends IndexedMessage>(record: Message, encode: (record: Message) => Buffer): void {
    const { seq, labels, senders, recipients } = record;
    const ledger = this.#ledger;
    ledger.expect(mailboxEntry.summary(record, seq));
    const summary = this.#reader.get(summariesTable, record);
    if (summary !== undefined && !summary.equals(encode(record))) {
      ledger.expect(`agreement of message ${record.id} with its line in lists`);
    }
    for (const label of labels) ledger.expect(mailboxEntry.member(record, seq, { type: 'label', label }));
    for (const address of senders) ledger.expect(mailboxEntry.member(record, seq, { type: 'from', address }));
    for (const address of recipients) {
      ledger.expect(mailboxEntry.member(record, seq, { type: 'recipient', address }));
    }
    if (!this.#isLeaving(record.inboxId)) ledger.find(mailboxEntry.number(record, seq));
  }

  #expectTrashed(record: IndexedMessage, place: NonNullable<IndexedMessage['trash']>): void {
    const { id, inboxId, kind, seq } = record;
    const { number, restorableUntil } = place;
    const [reader, ledger] = [this.#reader, this.#ledger];
    ledger.expect(messageEntry.trash(inboxId, number, kind, id, restorableUntil));
    ledger.expect(pendingEntry.purgeTrash(id, kind, restorableUntil));
    const gone = getBlock(reader, termKey({ inboxId, kind }, { type: 'gone' }), blockOf(seq));
    if (gone === undefined || !hasBit(gone, offsetOf(seq))) {
      ledger.expect(`mark that message ${id} in Trash is in no list`);
    }
    if (number > (reader.get(trashNumbersTable, inboxId) ?? 0)) {
      ledger.expect(`last Trash number of inbox ${inboxId}, ${number} at least`);
    }
  }
}

/** Its state, its pending entry and its content agree. */
function expectReceived(ledger: Ledger, record: ReceivedRecord): void {
  const { id, kind, status, parseDueAt, content } = record;
  const isFinished = status === 'ready' || status === 'failed';
  if (parseDueAt !== null) ledger.expect(pendingEntry.parse(id, parseDueAt));
  if (isFinished !== (parseDueAt === null))
    ledger.expect(`agreement of message ${id}, ${status}, with when it is due`);
  if ((status === 'ready') !== (content !== null))
    ledger.expect(`agreement of message ${id}, ${status}, with its content`);
  if (content !== null) expectContent(ledger, kind, id, content);
  for (const blob of [record.raw, ...record.attachments.map(attachment => attachment.blob)]) {
    ledger.expect(blobEntry(blob));
  }
}

function expectSent(ledger: Ledger, { kind, id, content, files }: SentRecord): void {
  expectContent(ledger, kind, id, content);
  for (const { blob } of files) ledger.expect(blobEntry(blob));
}

function expectContent(ledger: Ledger, kind: string, id: string, content: SentRecord['content']): void {
  ledger.expect(content.in === 'record' ? messageEntry.content(kind, id) : blobEntry(content.blob));
}

/** Finds the contents that lie beside records. */
export function findContents(reader: Reader, ledger: Ledger): void {
  const find = (kind: string, table: Table<MessageId, Buffer>): void => {
    for (const { key } of walkTable(reader, table)) {
      ledger.find(messageEntry.content(kind, idFromBytes<MessageId>(key)));
    }
  };
  find('received', contentsTable);
  find('sent', sentContentsTable);
}

/** Finds what Trash holds. */
export function findTrash(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, trashTable)) {
    const inboxId = idFromBytes<InboxId>(key);
    ledger.find(messageEntry.trash(inboxId, key.readUIntBE(16, 6), value.kind, value.id, value.restorableUntil));
  }
}
