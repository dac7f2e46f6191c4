import {
  type AccountId,
  type BlobId,
  type InboxId,
  idFromBytes,
  idToBytes,
  type MessageId,
} from '../../domain/ids.js';
import { DAY_MS } from '../../domain/instants.js';
import { removeBlocks } from '../../store/bitmap/sets.js';
import { MAX_U48, range, WHOLE_TABLE } from '../../store/engine/keys.js';
import { isHeldAfterRestore } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Table, Writer } from '../../store/engine/tables.js';
import { folderCountersTable, KINDS, scanSummaries, summariesTable } from '../../store/mailbox/folders.js';
import { removeTrash, scanTrash, trashNumbersTable } from '../../store/mailbox/index.js';
import { labelCountsTable } from '../../store/mailbox/postings.js';
import {
  feedbackPaceTable,
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
import { forgetEvents } from '../../store/records/events.js';
import { getUpload, removeUpload } from '../../store/records/file-uploads.js';
import {
  addPending,
  type DueWork,
  END_OF_TIME,
  listDue,
  type PendingKind,
  type PendingWork,
  removeExpiredKey,
  removePending,
} from '../../store/records/pending.js';
import { forgetFolder } from '../../store/records/search.js';
import { findAccountSuppression, liftAccountSuppression } from '../../store/records/suppressions.js';
import { freeThreadId, threadLinksTable } from '../../store/threads/names.js';
import { threadActivityTable } from '../../store/threads/threads.js';
import { eraseDraft } from '../drafts/read-draft.js';
import { eraseById } from '../mailbox/message-access.js';
import { type Clock, lapseInstant } from '../ports.js';

export interface SweepDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long the trail of approvals is kept (`audit.retention_days`); for ever when it is not given. */
  readonly auditRetentionDays?: number;
  /** Mails the operator how much feedback an account has given; without it digests wait. */
  readonly mailDigest?: (accountId: AccountId) => Promise<void>;
}

/**
 * Pending work that the sweep does. The queues carry messages, what is held waits for an admin, and news of webhooks are
 * mailed apart.
 */
type SweptKind = Exclude<
  PendingKind,
  'parse' | 'authenticate' | 'relay' | 'relay-held' | 'deliver' | 'index' | 'feedback-digest' | 'webhook-mail'
>;

interface Duty<Kind extends PendingKind> {
  /** Somebody asked for it: it is done even while the clock is in doubt, where what only lapses waits. */
  readonly isAskedFor?: true;
  /** Pieces (chunks, records) that one unit of work frees at most. The loop and other commits go on between units. */
  readonly batch: number;
  /**
   * Frees what one entry of pending work names, `limit` pieces at most. The entry itself is out of the store when
   * it is called, and is put back when it is not done: a unit may plan the same work anew, under the same key.
   */
  readonly unit: (writer: Writer, due: DueWork<Kind>, nowMs: number, limit: number) => Progress;
}

interface Progress {
  /** Pieces that were freed. */
  readonly pieces: number;
  /** False when more is to be freed for the same entry. */
  readonly isDone: boolean;
}

const ONE_PIECE: Progress = { pieces: 1, isDone: true };
/** For duties that free pieces until none is left. */
const upTo = (limit: number, pieces: number): Progress => ({ pieces, isDone: pieces < limit });

/** 4 MiB. */
const CHUNKS_PER_UNIT = 64;
const RECORDS_PER_UNIT = 100;

/** What the sweep does for each kind of pending work, in this order; whoever adds a kind adds an entry. */
const DUTIES: { readonly [Kind in SweptKind]: Duty<Kind> } = {
  /** Erases a message whose time in Trash is over. */
  'purge-trash': {
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work, dueAt }, nowMs) => {
      // An entry that was left behind, of a message that was restored or trashed again, erases nothing.
      eraseById(writer, work.message, work.id, nowMs, ({ trash }) => trash?.restorableUntil === dueAt);
      return ONE_PIECE;
    },
  },
  'purge-inbox': {
    isAskedFor: true,
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work }, nowMs, limit) => upTo(limit, eraseInbox(writer, work.id, nowMs, limit)),
  },
  /** Frees what a conversation that has ended left behind. */
  'purge-thread': {
    isAskedFor: true,
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work }, _nowMs, limit) =>
      upTo(limit, freeThreadId(writer, work.inboxId, work.id, limit)),
  },
  'purge-blob': {
    isAskedFor: true,
    batch: CHUNKS_PER_UNIT,
    unit: (writer, { work }, _nowMs, limit) => upTo(limit, removeChunks(writer, work.id, limit)),
  },
  'expire-key': {
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work }, nowMs) => {
      removeExpiredKey(writer, work.key, nowMs);
      return ONE_PIECE;
    },
  },
  'expire-charges': {
    batch: RECORDS_PER_UNIT,
    // Plans by itself when the next look at the account is due.
    unit: (writer, { work }, nowMs, limit) => ({
      pieces: forgetExpiredCharges(writer, work.id, nowMs, limit),
      isDone: true,
    }),
  },
  'expire-events': {
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work: { id, before } }, _nowMs, limit) =>
      upTo(limit, forgetEvents(writer, id, before, limit)),
  },
  'expire-link': {
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work }) => {
      const hash = Buffer.from(work.hash, 'hex');
      const link = findLink(writer, hash);
      if (link !== undefined) removeLink(writer, hash, link);
      return ONE_PIECE;
    },
  },
  'expire-phrase': {
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work }) => {
      const hash = Buffer.from(work.hash, 'hex');
      const phrase = findPhrase(writer, hash);
      if (phrase !== undefined) removePhrase(writer, hash, phrase);
      return ONE_PIECE;
    },
  },
  'expire-upload': {
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work: { accountId, id }, dueAt }, nowMs) => {
      const upload = getUpload(writer, accountId, id);
      if (upload?.expiresAt === dueAt) removeUpload(writer, upload, nowMs);
      return ONE_PIECE;
    },
  },
  'lapse-suppression': {
    batch: RECORDS_PER_UNIT,
    unit: (writer, { work: { accountId, address }, dueAt }) => {
      const entry = findAccountSuppression(writer, accountId, address);
      if (entry?.until === dueAt) liftAccountSuppression(writer, entry);
      return ONE_PIECE;
    },
  },
};

/**
 * Frees what deletions and expiry left behind, until nothing is due. Each step is one bounded unit of work that ends
 * with its pending entries, so a process that ends in the middle goes on at the next start. A step that fails is left
 * out from then on, and the others go on.
 * @param shouldStop asked between steps
 * @throws AggregateError at the end, with the errors of the steps that failed
 */
export async function sweep(deps: SweepDeps, shouldStop: () => boolean): Promise<void> {
  forgetOwed(deps.store);
  const steps = stepsOf(deps);
  const failures = new Map<string, unknown>();
  let hasMore = true;
  while (hasMore) {
    hasMore = false;
    for (const [name, step] of steps) {
      if (shouldStop()) break;
      try {
        if (await step()) hasMore = true;
      } catch (error) {
        failures.set(name, error);
        steps.delete(name);
      }
    }
  }
  if (failures.size > 0) {
    throw new AggregateError(failures.values(), `steps that failed: ${[...failures.keys()].join(', ')}`);
  }
}

/**
 * Another process may have deleted mail that waited to be parsed: when none waits, no room is owed to any, and that is
 * known before the next count (`countOwed`).
 */
function forgetOwed(store: Store): void {
  const { room } = store;
  if (room.owedBytes === 0) return;
  const isNoneWaiting = store.read(reader => listDue(reader, 'parse', END_OF_TIME, 1)).length === 0;
  if (isNoneWaiting) room.owe(-room.owedBytes);
}

/** Says whether it did anything: then there may be more. */
type Step = () => Promise<boolean>;

function stepsOf(deps: SweepDeps): Map<string, Step> {
  const steps = new Map<string, Step>();
  for (const kind of Object.keys(DUTIES) as SweptKind[]) steps.set(kind, () => doSome(deps, kind));
  // Mail leaves outside of a unit of work.
  steps.set('feedback-digest', () => mailDigests(deps));
  // The trail has no pending entries: the ids of its events tell how old they are.
  return steps.set('trim-audit', () => trimAudit(deps));
}

/** Does what is due of one kind, as far as one unit of work goes. */
async function doSome<Kind extends SweptKind>({ store, clock }: SweepDeps, kind: Kind): Promise<boolean> {
  const { batch, unit, isAskedFor }: Duty<Kind> = DUTIES[kind];
  const nowMs = isAskedFor ? clock() : lapseInstant(clock);
  // Most looks find nothing, and a look costs no commit.
  if (store.read(reader => listDue(reader, kind, nowMs, 1)).length === 0) return false;
  await store.write(writer => {
    let left = batch;
    for (const due of listDue(writer, kind, nowMs, batch)) {
      const work: PendingWork = due.work;
      removePending(writer, { kind, dueAt: due.dueAt, id: work.id });
      const { pieces, isDone } = unit(writer, due, nowMs, left);
      if (!isDone) addPending(writer, due.dueAt, work);
      left -= pieces;
      if (left <= 0) return;
    }
  }, 'settle');
  return true;
}

/** One digest; its entry goes after the attempt, however that ends: the feedback itself is in the store. */
async function mailDigests({ store, clock, mailDigest }: SweepDeps): Promise<boolean> {
  if (mailDigest === undefined || store.read(isHeldAfterRestore)) return false;
  const [due] = store.read(reader => listDue(reader, 'feedback-digest', clock(), 1));
  if (due === undefined) return false;
  try {
    await mailDigest(due.work.id);
  } finally {
    await store.write(writer => {
      removePending(writer, { kind: 'feedback-digest', dueAt: due.dueAt, id: due.work.id });
      writer.remove(feedbackPaceTable, due.work.id);
    }, 'settle');
  }
  return true;
}

/** The trail is kept for so long and no longer: it names people and where they were. */
async function trimAudit({ store, clock, auditRetentionDays }: SweepDeps): Promise<boolean> {
  if (auditRetentionDays === undefined) return false;
  const before = Math.max(0, lapseInstant(clock) - auditRetentionDays * DAY_MS);
  if (!store.read(reader => hasAuditBefore(reader, before))) return false;
  await store.write(writer => removeAuditBefore(writer, before, RECORDS_PER_UNIT), 'settle');
  return true;
}

/**
 * Erases what a deleted inbox held, `limit` records at most.
 * @returns how many they were; fewer than `limit`, nothing is left
 */
function eraseInbox(writer: Writer, inboxId: InboxId, nowMs: number, limit: number): number {
  let count = 0;
  for (const erase of [eraseLive, eraseTrashed, eraseDrafts, forgetSets]) {
    count += erase(writer, inboxId, limit - count, nowMs);
    if (count >= limit) return count;
  }
  for (const kind of KINDS) {
    writer.remove(folderCountersTable, { inboxId, kind });
    forgetFolder(writer, { inboxId, kind });
  }
  writer.remove(trashNumbersTable, inboxId);
  return count;
}

function eraseLive(writer: Writer, inboxId: InboxId, limit: number, nowMs: number): number {
  let count = 0;
  for (const kind of KINDS) {
    const all = { from: 0, to: MAX_U48, isDescending: true, limit: limit - count };
    for (const { seq, summary } of scanSummaries(writer, { inboxId, kind }, all)) {
      const { id } = JSON.parse(summary.toString('utf8')) as { id: MessageId };
      const isErased = eraseById(writer, kind, id, nowMs);
      // A line without its message (damage) must not bring the sweep back here for ever.
      if (!isErased) writer.remove(summariesTable, { inboxId, kind, seq });
      count += 1;
    }
  }
  return count;
}

function eraseTrashed(writer: Writer, inboxId: InboxId, limit: number, nowMs: number): number {
  const page = scanTrash(writer, inboxId, null, limit);
  for (const { number, message } of page) {
    const isErased = eraseById(writer, message.kind, message.id, nowMs);
    if (!isErased) removeTrash(writer, inboxId, number);
  }
  return page.length;
}

function eraseDrafts(writer: Writer, inboxId: InboxId, limit: number, nowMs: number): number {
  const page = scanDrafts(writer, inboxId, 'all', null, limit);
  for (const id of page) {
    const draft = getDraft(writer, id);
    if (draft !== undefined) eraseDraft(writer, draft, nowMs);
    // An entry without its draft (damage) must not bring the sweep back here for ever.
    else for (const state of DRAFT_STATES) forgetListed(writer, { inboxId, state, id });
  }
  return page.length;
}

/** Removes what is left of its sets: that of the numbers that are gone, above all. A sound store has no others. */
function forgetSets(writer: Writer, inboxId: InboxId, limit: number): number {
  const ofInbox = range(idToBytes(inboxId));
  let count = removeBlocks(writer, ofInbox, limit);
  const forget = <Value>(table: Table<Buffer, Value>): void => {
    const keys = writer.scanKeys(table, { ...ofInbox, limit: limit - count });
    for (const key of keys) writer.remove(table, key);
    count += keys.length;
  };
  forget(labelCountsTable);
  forget(threadActivityTable);
  forget(threadLinksTable);
  return count;
}

/**
 * At boot, before mail is taken: uploads that a process left unfinished become pending work of the sweep. Later the
 * table names uploads in flight too, which is why this is no duty.
 * @returns how many there were
 */
export async function recoverUploads({ store, clock }: Pick<SweepDeps, 'store' | 'clock'>): Promise<number> {
  const everything = { ...range(WHOLE_TABLE), limit: RECORDS_PER_UNIT };
  for (let recovered = 0; ; ) {
    const keys = store.read(reader => reader.scanKeys(blobUploadsTable, everything));
    if (keys.length === 0) return recovered;
    await store.write(writer => {
      for (const key of keys) {
        const id = idFromBytes<BlobId>(key);
        writer.remove(blobUploadsTable, id);
        addPending(writer, clock(), { kind: 'purge-blob', id });
      }
    }, 'settle');
    recovered += keys.length;
  }
}
