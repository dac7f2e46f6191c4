import { type BlobId, type InboxId, idFromBytes, idToBytes, type MessageId } from '../../domain/ids.js';
import { DAY_MS } from '../../domain/instants.js';
import { prefixEnd } from '../../store/engine/keys.js';
import type { Store } from '../../store/engine/store.js';
import type { Table, Writer } from '../../store/engine/tables.js';
import { removeTrash, scanTrash, trashNumbersTable } from '../../store/mailbox/index.js';
import { KINDS, mailboxCountersTable, scanSummaries, summariesTable } from '../../store/mailbox/mailboxes.js';
import { labelCountsTable, postingsTable } from '../../store/mailbox/postings.js';
import {
  findLink,
  findPhrase,
  hasAuditBefore,
  removeAuditBefore,
  removeLink,
  removePhrase,
} from '../../store/records/approvals.js';
import { blobUploadsTable, removeChunks } from '../../store/records/blobs.js';
import { forgetExpiredCharges } from '../../store/records/charges.js';
import { DRAFT_STATES, forgetListed, getDraft, scanDrafts } from '../../store/records/drafts.js';
import { addPending, listDue, removeExpiredKey, removePending } from '../../store/records/pending.js';
import { freeThreadId, threadLinksTable } from '../../store/threads/names.js';
import { threadActivityTable } from '../../store/threads/threads.js';
import { eraseDraft } from '../drafts/read-draft.js';
import { eraseById } from '../mailbox/message-access.js';
import type { Clock } from '../ports.js';

export interface SweepDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long the trail of approvals is kept; `audit.retention_days` says the same when it is not given. */
  readonly auditRetentionDays?: number;
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
  const steps = [
    purgeTrash,
    purgeInboxes,
    purgeThreads,
    purgeBlobs,
    expireKeys,
    expireCharges,
    expireLinks,
    expirePhrases,
    expireAudit,
  ];
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
      // Restored, or restored and trashed again, since the entry was read: not this time.
      eraseById(writer, work.message, work.id, nowMs, ({ trash }) => trash?.restorableUntil === dueAt);
    }
  });
  return true;
}

async function purgeInboxes({ store, clock }: SweepDeps): Promise<boolean> {
  const [due] = store.read(reader => listDue(reader, 'purge-inbox', clock(), 1));
  if (due === undefined) return false;
  const { id } = due.work;
  await store.write(writer => {
    if (eraseLive(writer, id, clock()) || eraseTrashed(writer, id, clock())) return;
    if (eraseDrafts(writer, id, clock()) || forgetSets(writer, id)) return;
    for (const kind of KINDS) writer.remove(mailboxCountersTable, { inboxId: id, kind });
    writer.remove(trashNumbersTable, id);
    removePending(writer, { kind: 'purge-inbox', dueAt: due.dueAt, id });
  });
  return true;
}

const EVERYTHING = { from: 0, to: 2 ** 48 - 1, isDescending: true, limit: RECORDS_PER_STEP } as const;

/** Erases some live messages of a deleted inbox; false when there was none left. */
function eraseLive(writer: Writer, inboxId: InboxId, nowMs: number): boolean {
  let count = 0;
  for (const kind of KINDS) {
    for (const { seq, summary } of scanSummaries(writer, { inboxId, kind }, EVERYTHING)) {
      const { id } = JSON.parse(summary.toString('utf8')) as { id: MessageId };
      const isErased = eraseById(writer, kind, id, nowMs);
      // A line without its message (damage) must not bring the sweep back here for ever.
      if (!isErased) writer.remove(summariesTable, { inboxId, kind, seq });
      count += 1;
    }
  }
  return count > 0;
}

/** The same for its Trash. */
function eraseTrashed(writer: Writer, inboxId: InboxId, nowMs: number): boolean {
  const page = scanTrash(writer, inboxId, null, RECORDS_PER_STEP);
  for (const { number, message } of page) {
    const isErased = eraseById(writer, message.kind, message.id, nowMs);
    if (!isErased) removeTrash(writer, inboxId, number);
  }
  return page.length > 0;
}

/** The same for its drafts. */
function eraseDrafts(writer: Writer, inboxId: InboxId, nowMs: number): boolean {
  const page = scanDrafts(writer, inboxId, 'all', null, RECORDS_PER_STEP);
  for (const id of page) {
    const draft = getDraft(writer, id);
    if (draft !== undefined) eraseDraft(writer, draft, nowMs);
    // An entry without its draft (damage) must not bring the sweep back here for ever.
    else for (const state of DRAFT_STATES) forgetListed(writer, { inboxId, state, id });
  }
  return page.length > 0;
}

/**
 * Removes what is left of a deleted inbox's sets: that of the numbers that are gone, above all. The others
 * are empty in a sound store.
 */
function forgetSets(writer: Writer, inboxId: InboxId): boolean {
  const from = idToBytes(inboxId);
  const to = prefixEnd(from) ?? Buffer.alloc(17, 0xff);
  const forget = <Value>(table: Table<Buffer, Value>): number => {
    const keys = writer.scanKeys(table, { from, to, limit: RECORDS_PER_STEP });
    for (const key of keys) writer.remove(table, key);
    return keys.length;
  };
  const sets = forget(postingsTable) + forget(labelCountsTable);
  return sets + forget(threadActivityTable) + forget(threadLinksTable) > 0;
}

/** Frees what conversations that have ended left behind. */
async function purgeThreads({ store, clock }: SweepDeps): Promise<boolean> {
  const due = store.read(reader => listDue(reader, 'purge-thread', clock(), RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    let left = RECORDS_PER_STEP;
    for (const { work, dueAt } of due) {
      const freed = freeThreadId(writer, work.inboxId, work.id, left);
      if (freed === left) return;
      removePending(writer, { kind: 'purge-thread', dueAt, id: work.id });
      left -= freed;
    }
  });
  return true;
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

async function expireCharges({ store, clock }: SweepDeps): Promise<boolean> {
  const nowMs = clock();
  const [due] = store.read(reader => listDue(reader, 'expire-charges', nowMs, 1));
  if (due === undefined) return false;
  await store.write(writer => {
    removePending(writer, { kind: 'expire-charges', dueAt: due.dueAt, id: due.work.id });
    forgetExpiredCharges(writer, due.work.id, nowMs, RECORDS_PER_STEP);
  });
  return true;
}

/** Steps of the sweep (`sweep.ts`) over what approvals leave behind; each says whether there may be more. */
type Deps = { readonly store: Store; readonly clock: Clock; readonly auditRetentionDays?: number };
const AUDIT_RETENTION_DAYS = 400;

export async function expireLinks({ store, clock }: Deps): Promise<boolean> {
  const due = store.read(reader => listDue(reader, 'expire-link', clock(), RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    for (const { work, dueAt } of due) {
      const hash = Buffer.from(work.hash, 'hex');
      const link = findLink(writer, hash);
      if (link !== undefined) removeLink(writer, hash, link);
      removePending(writer, { kind: 'expire-link', dueAt, id: work.id });
    }
  });
  return true;
}

export async function expirePhrases({ store, clock }: Deps): Promise<boolean> {
  const due = store.read(reader => listDue(reader, 'expire-phrase', clock(), RECORDS_PER_STEP));
  if (due.length === 0) return false;
  await store.write(writer => {
    for (const { work, dueAt } of due) {
      const hash = Buffer.from(work.hash, 'hex');
      const phrase = findPhrase(writer, hash);
      if (phrase !== undefined) removePhrase(writer, hash, phrase);
      removePending(writer, { kind: 'expire-phrase', dueAt, id: work.id });
    }
  });
  return true;
}

/** The trail is kept for so long and no longer: it names people and where they were. */
export async function expireAudit({
  store,
  clock,
  auditRetentionDays = AUDIT_RETENTION_DAYS,
}: Deps): Promise<boolean> {
  const before = Math.max(0, clock() - auditRetentionDays * DAY_MS);
  if (!store.read(reader => hasAuditBefore(reader, before))) return false;
  await store.write(writer => removeAuditBefore(writer, before, RECORDS_PER_STEP));
  return true;
}
