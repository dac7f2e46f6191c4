import type { InboxId } from '../domain/ids.js';
import { approvalLinksTable, claimPhrasesTable } from './approvals.js';
import { idempotencyTable } from './idempotency.js';
import { getInbox } from './inboxes.js';
import { type PendingWork, pendingTable } from './pending.js';
import type { Reader } from './reader-writer.js';
import { expectRemains } from './verify-blobs.js';
import type { Ledger } from './verify-ledger.js';
import { walkTable } from './walk-table.js';

/** How entries of the pending index are called. */
export const pendingEntry = {
  parse: (id: string, dueAt: number): string => `pending parsing of message ${id}, due ${dueAt}`,
  purgeTrash: (id: string, kind: string, dueAt: number): string =>
    `pending erasure from Trash of ${kind} message ${id}, due ${dueAt}`,
  relay: (id: string, dueAt: number): string => `pending relaying of message ${id}, due ${dueAt}`,
  relayHeld: (id: string, dueAt: number): string => `held sending of message ${id}, due ${dueAt}`,
  expireCharges: (id: string, dueAt: number): string =>
    `pending expiry of charges of account ${id}, due ${dueAt}`,
  expireKey: (id: string, dueAt: number): string => `pending expiry of the key that made ${id}, due ${dueAt}`,
  expireLink: (id: string, hash: string, dueAt: number): string =>
    `pending expiry of approval link ${id} (${hash.slice(0, 12)}...), due ${dueAt}`,
  expirePhrase: (id: string, hash: string, dueAt: number): string =>
    `pending expiry of claim phrase ${id} (${hash.slice(0, 12)}...), due ${dueAt}`,
};

/** Inboxes that were deleted and whose mail is being erased. */
export function leavingInboxes(reader: Reader): Set<InboxId> {
  const leaving = new Set<InboxId>();
  for (const { value } of walkTable(reader, pendingTable)) {
    if (value.kind === 'purge-inbox') leaving.add(value.id);
  }
  return leaving;
}

/** Finds what must happen next, and expects what it is about. */
export function findPending(reader: Reader, ledger: Ledger): number {
  let count = 0;
  for (const { key, value } of walkTable(reader, pendingTable)) {
    findWork(reader, ledger, value, key.readUIntBE(1, 6));
    count += 1;
  }
  return count;
}

function findWork(reader: Reader, ledger: Ledger, work: PendingWork, dueAt: number): void {
  switch (work.kind) {
    case 'parse':
      ledger.find(pendingEntry.parse(work.id, dueAt));
      break;
    case 'purge-trash':
      ledger.find(pendingEntry.purgeTrash(work.id, work.message, dueAt));
      break;
    case 'purge-blob':
      expectRemains(reader, ledger, work.id);
      break;
    case 'purge-inbox':
      if (getInbox(reader, work.id) !== undefined) {
        ledger.find(`pending erasure of inbox ${work.id}, which is in use`);
      }
      break;
    case 'relay':
      ledger.find(pendingEntry.relay(work.id, dueAt));
      break;
    case 'relay-held':
      ledger.find(pendingEntry.relayHeld(work.id, dueAt));
      break;
    case 'expire-charges':
      ledger.find(pendingEntry.expireCharges(work.id, dueAt));
      break;
    case 'expire-key':
      // A key that was used again after its time has a later entry; this one will find nothing to do.
      if (reader.get(idempotencyTable, work.key)?.expiresAt === dueAt) {
        ledger.find(pendingEntry.expireKey(work.id, dueAt));
      }
      break;
    case 'expire-link':
      ledger.find(pendingEntry.expireLink(work.id, work.hash, dueAt));
      break;
    case 'expire-phrase':
      ledger.find(pendingEntry.expirePhrase(work.id, work.hash, dueAt));
  }
}

/** Expects that every idempotency key is forgotten when its time has come. */
export function expectKeyExpiry(reader: Reader, ledger: Ledger): void {
  for (const { value } of walkTable(reader, idempotencyTable)) {
    ledger.expect(pendingEntry.expireKey(value.resultId, value.expiresAt));
  }
}

/** Expects that every approval link and claim phrase is forgotten when its time has come. */
export function expectApprovalExpiry(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, approvalLinksTable)) {
    ledger.expect(pendingEntry.expireLink(value.id, key.toString('hex'), value.expiresAt));
  }
  for (const { key, value } of walkTable(reader, claimPhrasesTable)) {
    ledger.expect(pendingEntry.expirePhrase(value.id, key.toString('hex'), value.expiresAt));
  }
}
