import { type AccountId, type InboxId, idFromBytes, type MessageId } from '../../domain/ids.js';
import type { EncodedFile } from '../../domain/message-parts.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { summariesTable } from '../mailbox/folders.js';
import { type IndexedMessage, knownVerdict, trashNumbersTable, trashTable } from '../mailbox/index.js';
import {
  attachmentBlobs,
  bytesOf,
  getSent,
  lineOf,
  type MessageRecord,
  messagesTable,
  type ReceivedRecord,
  type SentRecord,
  sentTable,
} from '../mailbox/messages.js';
import { hasPosting } from '../mailbox/postings.js';
import type { BlobRef } from '../records/blobs.js';
import { chargeSumsTable, chargesTable } from '../records/charges.js';
import { bytesOfDraft, draftListKeys, draftsTable, inboxDraftsTable } from '../records/drafts.js';
import { getInbox } from '../records/inboxes.js';
import { pendingEntry } from './accounts-and-pending.js';
import { ExcerptCheck } from './excerpts.js';
import type { Ledger } from './ledger.js';
import { blobEntry, type FolderTally, folderEntry, tallyKey } from './sets-and-blobs.js';
import type { StoredTally } from './stored-bytes.js';
import { expectMember } from './threads.js';

const messageEntry = {
  trash: (inboxId: string, number: number, kind: string, id: string, restorableUntil: number): string =>
    `Trash entry ${number} of inbox ${inboxId}: ${kind} message ${id}, restorable until ${restorableUntil}`,
};

export interface MessageFacts {
  readonly received: number;
  readonly sent: number;
  readonly trashed: number;
  readonly tallies: ReadonlyMap<string, FolderTally>;
}

/** Walks the records of messages and expects of every index what they come to. */
export function expectMessages(
  reader: Reader,
  ledger: Ledger,
  isLeaving: (inboxId: InboxId) => boolean,
  stored: StoredTally,
): MessageFacts {
  const walk = new MessageWalk(reader, ledger, isLeaving, stored);
  const excerpts = new ExcerptCheck(reader, ledger);
  let received = 0;
  for (const { value: record } of walkTable(reader, messagesTable)) {
    walk.expect(record, record.receivedAt);
    expectReceived(ledger, record);
    excerpts.expect(record);
    received += 1;
  }
  let sent = 0;
  for (const { value: record } of walkTable(reader, sentTable)) {
    walk.expect(record, record.createdAt);
    expectSent(ledger, record);
    excerpts.expect(record);
    sent += 1;
  }
  return { received, sent, trashed: walk.trashed, tallies: walk.tallies };
}

/** What is expected of messages of either kind. */
class MessageWalk {
  readonly tallies = new Map<string, FolderTally>();
  trashed = 0;
  readonly #reader: Reader;
  readonly #ledger: Ledger;
  readonly #isLeaving: (inboxId: InboxId) => boolean;
  readonly #stored: StoredTally;

  constructor(reader: Reader, ledger: Ledger, isLeaving: (inboxId: InboxId) => boolean, stored: StoredTally) {
    this.#reader = reader;
    this.#ledger = ledger;
    this.#isLeaving = isLeaving;
    this.#stored = stored;
  }

  expect(record: MessageRecord, at: number): void {
    const tally = this.#tallyOf(record);
    tally.lastSeq = Math.max(tally.lastSeq, record.seq);
    tally.lastAt = Math.max(tally.lastAt, at);
    tally.bytes += bytesOf(record);
    this.#stored.add(record.inboxId, bytesOf(record));
    if (record.trash === null) {
      tally.live += 1;
      this.#expectLive(record);
    } else {
      this.trashed += 1;
      this.#expectTrashed(record, record.trash);
    }
    expectMember(this.#reader, this.#ledger, record);
    if (getInbox(this.#reader, record.inboxId) === undefined && !this.#isLeaving(record.inboxId)) {
      this.#ledger.expect(`inbox ${record.inboxId} of message ${record.id}`);
    }
  }

  #tallyOf(record: IndexedMessage): FolderTally {
    const key = tallyKey(record);
    let tally = this.tallies.get(key);
    if (tally === undefined) {
      tally = { live: 0, lastSeq: 0, lastAt: 0, bytes: 0 };
      this.tallies.set(key, tally);
    }
    return tally;
  }

  #expectLive(record: MessageRecord): void {
    const { seq, labels, senders, recipients } = record;
    const ledger = this.#ledger;
    ledger.expect(folderEntry.summary(record, seq));
    const summary = this.#reader.get(summariesTable, record);
    if (summary !== undefined && !summary.equals(lineOf(record))) {
      ledger.expect(`agreement of message ${record.id} with its line in lists`);
    }
    for (const label of labels) ledger.expect(folderEntry.member(record, seq, { type: 'label', label }));
    for (const address of senders) ledger.expect(folderEntry.member(record, seq, { type: 'from', address }));
    for (const address of recipients) {
      ledger.expect(folderEntry.member(record, seq, { type: 'recipient', address }));
    }
    const verdict = knownVerdict(record);
    if (verdict !== null) ledger.expect(folderEntry.member(record, seq, { type: 'authentication', verdict }));
    if (!this.#isLeaving(record.inboxId)) ledger.find(folderEntry.number(record, seq));
  }

  #expectTrashed(record: IndexedMessage, place: NonNullable<IndexedMessage['trash']>): void {
    const { id, inboxId, kind, seq } = record;
    const { number, restorableUntil } = place;
    const [reader, ledger] = [this.#reader, this.#ledger];
    ledger.expect(messageEntry.trash(inboxId, number, kind, id, restorableUntil));
    ledger.expect(pendingEntry.purgeTrash(id, kind, restorableUntil));
    if (!hasPosting(reader, { inboxId, kind }, { type: 'gone' }, seq)) {
      ledger.expect(`mark that message ${id} in Trash is in no list`);
    }
    if (number > (reader.get(trashNumbersTable, inboxId) ?? 0)) {
      ledger.expect(`last Trash number of inbox ${inboxId}, ${number} at least`);
    }
  }
}

/** Its state, its pending entry and its content agree. */
function expectReceived(ledger: Ledger, record: ReceivedRecord): void {
  const { id, status, parseDueAt, content } = record;
  const isFinished = status === 'ready' || status === 'failed';
  if (parseDueAt !== null) ledger.expect(pendingEntry.parse(id, parseDueAt));
  if (record.recheck != null) ledger.expect(pendingEntry.authenticate(id, record.recheck.dueAt));
  if (isFinished !== (parseDueAt === null)) {
    ledger.expect(`agreement of message ${id}, ${status}, with when it is due`);
  }
  if ((status === 'ready') !== (content !== null)) {
    ledger.expect(`agreement of message ${id}, ${status}, with its content`);
  }
  if (content !== null) ledger.expect(blobEntry(content));
  for (const blob of [record.raw, ...attachmentBlobs(record)]) ledger.expect(blobEntry(blob));
  for (const place of record.attachments) {
    if ('blob' in place || isWithin(record.raw, place)) continue;
    ledger.expect(`bytes of attachment ${place.id} in the raw bytes of message ${id}`);
  }
}

function isWithin({ size }: BlobRef, { start, length }: EncodedFile): boolean {
  return start >= 0 && length >= 0 && start + length <= size;
}

/** Its blobs, and a pending entry while its attempt has no outcome. */
function expectSent(ledger: Ledger, record: SentRecord): void {
  const { id, content, files, attempt, relayDueAt, status } = record;
  for (const blob of [content, ...files.map(file => file.blob)]) ledger.expect(blobEntry(blob));
  if (relayDueAt !== null) {
    ledger.expect(
      attempt === 'held' ? pendingEntry.relayHeld(id, relayDueAt) : pendingEntry.relay(id, relayDueAt),
    );
  }
  const isOpen = attempt !== 'settled';
  if (isOpen !== (relayDueAt !== null) || (isOpen && status !== 'unknown')) {
    ledger.expect(`agreement of status ${status} and attempt ${attempt} of sent message ${id}`);
  }
}

/** Finds what Trash holds. */
export function findTrash(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, trashTable)) {
    const inboxId = idFromBytes<InboxId>(key);
    ledger.find(
      messageEntry.trash(inboxId, key.readUIntBE(16, 6), value.kind, value.id, value.restorableUntil),
    );
  }
}

const sendEntry = {
  sum: (accountId: string, sum: number): string => `sum of the charges of account ${accountId}: ${sum}`,
  listed: (key: Buffer): string => `list entry ${key.toString('hex')} of a draft`,
};

/** Holds charges against their sums, and against what became of what they were made for. */
export function verifyCharges(reader: Reader, ledger: Ledger): void {
  const sums = new Map<string, number>();
  for (const { key, value } of walkTable(reader, chargesTable)) {
    const accountId = idFromBytes<AccountId>(key);
    sums.set(accountId, (sums.get(accountId) ?? 0) + value);
    const record = getSent(reader, idFromBytes<MessageId>(key, 22));
    if (record !== undefined) checkCharge(ledger, record, value);
  }
  for (const { key, value } of walkTable(reader, chargeSumsTable)) {
    const accountId = idFromBytes<AccountId>(key);
    ledger.expect(pendingEntry.expireCharges(accountId, value.sweepDueAt));
    ledger.expect(sendEntry.sum(accountId, value.sum));
    ledger.find(sendEntry.sum(accountId, sums.get(accountId) ?? 0));
    sums.delete(accountId);
  }
  for (const [accountId, sum] of sums) ledger.find(sendEntry.sum(accountId, sum));
}

function checkCharge(ledger: Ledger, { id, status, to, cc, bcc }: SentRecord, amount: number): void {
  if (status === 'rejected') ledger.find(`charge for the rejected message ${id}`);
  if (amount !== to.length + cc.length + bcc.length) {
    ledger.expect(`charge for the message ${id} of as many as it has recipients`);
  }
}

/** Holds drafts against their lists, texts and blobs. */
export function verifyDrafts(
  reader: Reader,
  ledger: Ledger,
  isLeaving: (inboxId: InboxId) => boolean,
  stored: StoredTally,
): number {
  let count = 0;
  for (const { value: draft } of walkTable(reader, draftsTable)) {
    count += 1;
    stored.add(draft.inboxId, bytesOfDraft(draft));
    stored.addDraft(draft.inboxId, bytesOfDraft(draft));
    for (const key of draftListKeys(draft)) ledger.expect(sendEntry.listed(key));
    for (const text of [draft.text, draft.html]) if (text !== null) ledger.expect(blobEntry(text));
    for (const { blob } of draft.files) ledger.expect(blobEntry(blob));
    if ((draft.state === 'submitted') !== (draft.sentMessageId !== null)) {
      ledger.expect(`agreement of state and sent message of draft ${draft.id}`);
    }
    const sent = draft.sentMessageId === null ? undefined : getSent(reader, draft.sentMessageId);
    if (sent !== undefined && sent.inboxId !== draft.inboxId) {
      ledger.expect(`sent message of draft ${draft.id} in its inbox`);
    }
    if (getInbox(reader, draft.inboxId) === undefined && !isLeaving(draft.inboxId)) {
      ledger.expect(`inbox ${draft.inboxId} of draft ${draft.id}`);
    }
  }
  for (const { key } of walkTable(reader, inboxDraftsTable)) ledger.find(sendEntry.listed(key));
  return count;
}
