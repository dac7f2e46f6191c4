import type { BlobId, InboxId, MessageId } from '../domain/ids.js';
import { idFromBytes } from '../domain/ids.js';
import { blobUploadsTable, removeChunks } from '../store/blobs.js';
import { removeExpiredKey } from '../store/idempotency.js';
import { getMessage, mailboxCountersTable, scanSummaries, summariesTable } from '../store/messages.js';
import { addPending, listDue, removePending } from '../store/pending.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { eraseMessage } from './delete-message.js';
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
  const steps = [purgeInboxes, purgeBlobs, expireKeys];
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

async function purgeInboxes({ store, clock }: SweepDeps): Promise<boolean> {
  const [due] = store.read(reader => listDue(reader, 'purge-inbox', clock(), 1));
  if (due === undefined) return false;
  await store.write(writer => {
    if (erasePage(writer, due.work.id, clock())) return;
    writer.remove(mailboxCountersTable, { inboxId: due.work.id, kind: 'received' });
    removePending(writer, { kind: 'purge-inbox', dueAt: due.dueAt, id: due.work.id });
  });
  return true;
}

/** Erases some messages of a deleted inbox; false when there was none left. */
function erasePage(writer: Writer, inboxId: InboxId, nowMs: number): boolean {
  const page = scanSummaries(writer, { inboxId, kind: 'received' }, null, RECORDS_PER_STEP);
  for (const { seq, summary } of page) {
    const { id } = JSON.parse(summary.toString('utf8')) as { id: MessageId };
    const record = getMessage(writer, id);
    if (record !== undefined) eraseMessage(writer, record, nowMs);
    // A line without its message (damage) must not bring the sweep back here for ever.
    else writer.remove(summariesTable, { inboxId, kind: 'received', seq });
  }
  return page.length > 0;
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
