import type { BlobId, InboxId, MessageId } from '../domain/ids.js';
import { idFromBytes, idToBytes } from '../domain/ids.js';
import { blobUploadsTable, removeChunks } from '../store/blobs.js';
import { removeExpiredKey } from '../store/idempotency.js';
import { prefixEnd } from '../store/key-codec.js';
import { labelCountsTable } from '../store/label-counts.js';
import { mailboxCountersTable, scanSummaries, summariesTable } from '../store/mailboxes.js';
import { getMessage } from '../store/messages.js';
import { addPending, listDue, removePending } from '../store/pending.js';
import { postingsTable } from '../store/postings.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { removeTrash, scanTrash, trashNumbersTable } from '../store/trash.js';
import { receivedMessages } from './message-access.js';
import type { Clock } from './ports.js';

export interface SweepDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** Bounds of one unit of work: 4 MiB of chunks, a hundred records. The loop and other commits go on between. */
const CHUNKS_PER_STEP = 64;
const RECORDS_PER_STEP = 100;

/**
 * Frees what deletions and expiry have left, in small steps, until nothing is due. Every step is a unit of
 * work that ends with its pending entry, so a process that ends in the middle goes on at the next start.
 * @param shouldStop asked between steps
 */
export async function sweep(deps: SweepDeps, shouldStop: () => boolean): Promise<void> {
  const steps = [purgeTrash, purgeInboxes, purgeBlobs, expireKeys];
  let hasMore = true;
  while (hasMore && !shouldStop()) {
    hasMore = false;
    for (const step of steps) {
      if (shouldStop()) return;
      if (await step(deps)) hasMore = true;
    }
  }
}

/** At boot, before mail is taken: uploads that a process left unfinished are handed to the sweep. */
export async function recoverUploads(deps: SweepDeps): Promise<number> {
  const keys = deps.store.read(reader =>
    reader.scanKeys(blobUploadsTable, { from: Buffer.alloc(0), to: Buffer.alloc(17, 0xff), limit: 100_000 }),
  );
  for (const key of keys) {
    const id = idFromBytes<BlobId>(key);
    await deps.store.write(writer => {
      writer.remove(blobUploadsTable, id);
      addPending(writer, deps.clock(), { kind: 'purge-blob', id });
    });
  }
  return keys.length;
}

async function purgeBlobs({ store, clock }: SweepDeps): Promise<boolean> {
  const due = store.read(reader => listDue(reader, 'purge-blob', clock(), RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    let chunks = CHUNKS_PER_STEP;
    for (const { work, dueAt } of due) {
      const removed = removeChunks(writer, work.id, chunks);
      if (removed === chunks) return;
      removePending(writer, { kind: 'purge-blob', dueAt, id: work.id });
      chunks -= removed;
    }
  });
  return true;
}

/** Erases messages whose time in Trash is over. */
async function purgeTrash({ store, clock }: SweepDeps): Promise<boolean> {
  const nowMs = clock();
  const due = store.read(reader => listDue(reader, 'purge-trash', nowMs, RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    for (const { work, dueAt } of due) {
      removePending(writer, { kind: 'purge-trash', dueAt, id: work.id });
      const record = getMessage(writer, work.id);
      // Restored, or restored and trashed again, since the entry was read.
      if (record?.trash?.restorableUntil === dueAt) receivedMessages.erase(writer, record, nowMs);
    }
  });
  return true;
}

async function purgeInboxes({ store, clock }: SweepDeps): Promise<boolean> {
  const [due] = store.read(reader => listDue(reader, 'purge-inbox', clock(), 1));
  if (due === undefined) return false;
  const { id } = due.work;
  await store.write(writer => {
    if (eraseLive(writer, id, clock()) || eraseTrashed(writer, id, clock()) || forgetSets(writer, id)) return;
    writer.remove(mailboxCountersTable, { inboxId: id, kind: 'received' });
    writer.remove(trashNumbersTable, id);
    removePending(writer, { kind: 'purge-inbox', dueAt: due.dueAt, id });
  });
  return true;
}

const EVERYTHING = { from: 0, to: 2 ** 48 - 1, isDescending: true, limit: RECORDS_PER_STEP } as const;

/** Erases some live messages of a deleted inbox; false when there was none left. */
function eraseLive(writer: Writer, inboxId: InboxId, nowMs: number): boolean {
  const mailbox = { inboxId, kind: 'received' } as const;
  const page = scanSummaries(writer, mailbox, EVERYTHING);
  for (const { seq, summary } of page) {
    const { id } = JSON.parse(summary.toString('utf8')) as { id: MessageId };
    const record = getMessage(writer, id);
    if (record !== undefined) receivedMessages.erase(writer, record, nowMs);
    // A line without its message (damage) must not bring the sweep back here for ever.
    else writer.remove(summariesTable, { ...mailbox, seq });
  }
  return page.length > 0;
}

/** The same for its Trash. */
function eraseTrashed(writer: Writer, inboxId: InboxId, nowMs: number): boolean {
  const page = scanTrash(writer, inboxId, null, RECORDS_PER_STEP);
  for (const { number, message } of page) {
    const record = receivedMessages.get(writer, message.id);
    if (record !== undefined) receivedMessages.erase(writer, record, nowMs);
    else removeTrash(writer, inboxId, number);
  }
  return page.length > 0;
}

/** Removes what is left of a deleted inbox's sets: that of the numbers that are gone, above all. */
function forgetSets(writer: Writer, inboxId: InboxId): boolean {
  const from = idToBytes(inboxId);
  const to = prefixEnd(from) ?? Buffer.alloc(17, 0xff);
  const range = { from, to, limit: RECORDS_PER_STEP };
  const blocks = writer.scanKeys(postingsTable, range);
  for (const key of blocks) writer.remove(postingsTable, key);
  const labels = writer.scanKeys(labelCountsTable, range);
  for (const key of labels) writer.remove(labelCountsTable, key);
  return blocks.length + labels.length > 0;
}

async function expireKeys({ store, clock }: SweepDeps): Promise<boolean> {
  const nowMs = clock();
  const due = store.read(reader => listDue(reader, 'expire-key', nowMs, RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    for (const { work, dueAt } of due) {
      removeExpiredKey(writer, work.key, nowMs);
      removePending(writer, { kind: 'expire-key', dueAt, id: work.id });
    }
  });
  return true;
}
