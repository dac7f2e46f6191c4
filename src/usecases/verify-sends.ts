import { type AccountId, type DraftId, type InboxId, idFromBytes, type MessageId } from '../domain/ids.js';
import { chargeSumsTable, chargesTable } from '../store/charges.js';
import { draftListKeys, draftsTable, draftTextsTable, inboxDraftsTable } from '../store/drafts.js';
import { getInbox } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';
import { getSent, type SentRecord, sentTable } from '../store/sent.js';
import { blobEntry } from '../store/verify-blobs.js';
import type { Ledger } from '../store/verify-ledger.js';
import { pendingEntry } from '../store/verify-pending.js';
import { walkTable } from '../store/walk-table.js';

const sendEntry = {
  sum: (accountId: string, sum: number): string => `sum of the charges of account ${accountId}: ${sum}`,
  listed: (key: Buffer): string => `list entry ${key.toString('hex')} of a draft`,
  text: (id: string, field: string, bytes: number): string => `${field} of draft ${id}, ${bytes} bytes`,
};

/** Expects what attempts owe: an entry of the pending index as long as one has no outcome. */
export function expectAttempts(reader: Reader, ledger: Ledger): void {
  for (const { value: record } of walkTable(reader, sentTable)) {
    const { id, attempt, relayDueAt, status } = record;
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
}

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
): number {
  let count = 0;
  for (const { value: draft } of walkTable(reader, draftsTable)) {
    count += 1;
    for (const key of draftListKeys(draft)) ledger.expect(sendEntry.listed(key));
    for (const field of ['text', 'html'] as const) {
      const place = draft[field];
      if (place?.in === 'record') ledger.expect(sendEntry.text(draft.id, field, place.size));
      if (place?.in === 'blob') ledger.expect(blobEntry({ id: place.blob.id, size: place.size }));
    }
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
  for (const { key, value } of walkTable(reader, draftTextsTable)) {
    ledger.find(sendEntry.text(idFromBytes<DraftId>(key), key[16] === 1 ? 'text' : 'html', value.length));
  }
  return count;
}
