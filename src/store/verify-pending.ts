import type { InboxId } from '../domain/ids.js';
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
  expireKey: (id: string, dueAt: number): string => `pending expiry of the key that made ${id}, due ${dueAt}`,
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
    case 'expire-key':
      // A key that was used again after its time has a later entry; this one will find nothing to do.
      if (reader.get(idempotencyTable, work.key)?.expiresAt === dueAt) {
        ledger.find(pendingEntry.expireKey(work.id, dueAt));
      }
  }
}

/** Expects that every idempotency key is forgotten when its time has come. */
export function expectKeyExpiry(reader: Reader, ledger: Ledger): void {
  for (const { value } of walkTable(reader, idempotencyTable)) {
    ledger.expect(pendingEntry.expireKey(value.resultId, value.expiresAt));
  }
}
