import { type InboxId, newId, type ThreadId } from '../../domain/ids.js';
import { type ThreadingIds, threadKeys } from '../../domain/message-ids.js';

import type { Reader, Writer } from '../engine/tables.js';
import { countChange, type Folder, getCounters } from '../mailbox/folders.js';
import { addPosting, moveSet, removePosting } from '../mailbox/postings.js';
import { noteEvent } from '../records/events.js';
import { compareMembers, edgeOf, foldersOf, type MemberPosition, placeOf, threadTerm } from './members.js';
import {
  addLink,
  canonicalThread,
  freeThreadId,
  hashedMessageId,
  linkKey,
  mergeNames,
  purgeThread,
  rootOfThread,
  threadLinksTable,
} from './names.js';
import {
  emptyThread,
  getThread,
  type MemberOutcome,
  putThread,
  type ThreadRecord,
  threadsTable,
} from './threads.js';

/** What a conversation knows of a message. */
export interface ThreadMember extends Folder {
  readonly seq: number;
  readonly threadId: ThreadId | null;
  readonly status: 'pending' | 'processing' | 'ready' | 'failed' | 'accepted' | 'rejected' | 'unknown';
  readonly trash: object | null;
}

/**
 * What a message is counted as; null when its conversation does not show it: it is in Trash, or is being
 * parsed again. It belongs to it all the same.
 */
export function memberOutcome(message: ThreadMember | null): MemberOutcome | null {
  if (message === null || message.threadId === null || message.trash !== null) return null;
  switch (message.status) {
    case 'ready':
      return 'received';
    case 'accepted':
    case 'rejected':
    case 'unknown':
      return message.status;
    default:
      return null;
  }
}

/**
 * Brings the conversation of a message from one state of it to the next; `mailbox/index.ts` calls it with every
 * change of a message, when the message's own line is written. A change of labels costs nothing here.
 */
export function moveInThreads(
  writer: Writer,
  before: ThreadMember | null,
  after: ThreadMember | null,
  summary: Buffer | null,
): void {
  const [was, is] = [memberOutcome(before), memberOutcome(after)];
  const [left, joined] = [before?.threadId ?? null, after?.threadId ?? null];
  if (left === joined && was === is) return;
  const at = is === null || after === null || summary === null ? 0 : placeOf(writer, after, summary);
  const from = left === null ? null : rootOfThread(writer, left);
  const to = joined === null ? null : rootOfThread(writer, joined);
  if (from === to) {
    if (from !== null && after !== null) changeMember(writer, from, after, { was, is, members: 0, at });
    return;
  }
  if (from !== null && before !== null) {
    changeMember(writer, from, before, { was, is: null, members: -1, at });
  }
  if (to !== null && after !== null) changeMember(writer, to, after, { was: null, is, members: 1, at });
}

interface MemberChange {
  readonly was: MemberOutcome | null;
  readonly is: MemberOutcome | null;
  /** Adds or removes one member, shown or not. */
  readonly members: 1 | 0 | -1;
  /** Place in time of a message that is shown. */
  readonly at: number;
}

function changeMember(writer: Writer, root: ThreadId, message: ThreadMember, change: MemberChange): void {
  const { was, is, members, at } = change;
  const { inboxId, kind, seq } = message;
  // There is none yet before its first member joins.
  const before = getThread(writer, root) ?? emptyThread(inboxId, root);
  const counts = { ...before.counts };
  if (was !== null) counts[was] -= 1;
  if (is !== null) counts[is] += 1;
  let { earliest, latest } = before;
  if (was === null && is !== null) {
    addPosting(writer, message, threadTerm(root), seq);
    earliest = earlierOf(earliest, { at, kind, seq });
    latest = laterOf(latest, { at, kind, seq });
  } else if (was !== null && is === null) {
    removePosting(writer, message, threadTerm(root), seq);
    const place = { inboxId, root };
    if (isAt(earliest, message)) earliest = edgeOf(writer, place, 'earliest');
    if (isAt(latest, message)) latest = edgeOf(writer, place, 'latest');
  }
  const after: ThreadRecord = {
    ...before,
    members: before.members + members,
    joins: before.joins + Math.max(members, 0),
    counts,
    earliest,
    latest,
  };
  putThread(writer, root, before, after.members > 0 ? after : null);
  if (after.members <= 0) endThread(writer, root, before);
}

function isAt(position: MemberPosition | null, { kind, seq }: ThreadMember): boolean {
  return position?.kind === kind && position.seq === seq;
}

function earlierOf(a: MemberPosition | null, b: MemberPosition | null): MemberPosition | null {
  if (a === null || b === null) return a ?? b;
  return compareMembers(a, b) <= 0 ? a : b;
}

function laterOf(a: MemberPosition | null, b: MemberPosition | null): MemberPosition | null {
  if (a === null || b === null) return a ?? b;
  return compareMembers(a, b) >= 0 ? a : b;
}

/** Entries freed together with the last member: enough for most conversations. The sweeper frees the rest. */
const FREED_AT_ONCE = 16;

function endThread(writer: Writer, root: ThreadId, { inboxId }: ThreadRecord): void {
  const freed = freeThreadId(writer, inboxId, root, FREED_AT_ONCE);
  if (freed === FREED_AT_ONCE) purgeThread(writer, inboxId, root);
}

/**
 * Makes one conversation of two, given by their roots, and says which root is kept: the one that more messages
 * have joined. The sets of the other one are moved block by block: that is all that grows with its size, and a
 * folder of a million messages has sixteen blocks. Ids that are kept in records, summaries and links stay as
 * they are; they are resolved when they are shown.
 */
function mergeThreads(writer: Writer, a: ThreadId, b: ThreadId, nowMs: number): ThreadId {
  const [threadA, threadB] = [getThread(writer, a), getThread(writer, b)];
  if (threadA === undefined || threadB === undefined) throw new Error('a thread to be merged is missing');
  const isKept = threadA.joins > threadB.joins || (threadA.joins === threadB.joins && a < b);
  const [root, kept, from, moved] = isKept ? [a, threadA, b, threadB] : [b, threadB, a, threadA];
  const { inboxId } = kept;
  for (const folder of foldersOf(inboxId)) {
    moveSet(writer, folder, threadTerm(from), threadTerm(root));
    touchLists(writer, folder);
  }
  const shown = olderOf(kept.shown, moved.shown);
  mergeNames(writer, inboxId, { from, into: root, shown });
  putThread(writer, from, moved, null);
  putThread(writer, root, kept, {
    inboxId,
    shown,
    members: kept.members + moved.members,
    joins: kept.joins + moved.joins,
    counts: {
      received: kept.counts.received + moved.counts.received,
      accepted: kept.counts.accepted + moved.counts.accepted,
      rejected: kept.counts.rejected + moved.counts.rejected,
      unknown: kept.counts.unknown + moved.counts.unknown,
    },
    earliest: earlierOf(kept.earliest, moved.earliest),
    latest: laterOf(kept.latest, moved.latest),
  });
  const mergedId = shown === kept.shown ? moved.shown : kept.shown;
  noteEvent(writer, { type: 'thread.merged', inboxId, threadId: shown, mergedId }, nowMs);
  return root;
}

/** Ids sort by creation. */
function olderOf(a: ThreadId, b: ThreadId): ThreadId {
  if (b < a) return b;
  return a;
}

/** Cached pages show thread ids that are no longer canonical, so the version must grow. */
function touchLists(writer: Writer, folder: Folder): void {
  if (getCounters(writer, folder).version > 0) countChange(writer, folder, 0);
}

/**
 * Which conversation a Message-ID belongs to, within one inbox. Every id that a message bears or mentions is tied to
 * one conversation; a message that mentions ids of several makes one of them. What is tied together does not depend on
 * the order in which messages arrive, nor on which of them are deleted, as long as one is left. With the last one the
 * conversation ends and its ids are forgotten.
 */

/**
 * Ties a message to its conversation and says which that is, by the id that it is shown by. The caller writes
 * the message with this id in the same unit of work. Costs a look at each of the ids that `threadKeys` keeps
 * (32 at most, so that at most 31 conversations are merged into one) and the merges.
 * @param current the conversation that the message belongs to already: it does not leave it
 */
export function joinThread(
  writer: Writer,
  inboxId: InboxId,
  ids: ThreadingIds,
  nowMs: number,
  current: ThreadId | null = null,
): ThreadId {
  const roots = new Set<ThreadId>();
  const untied: Buffer[] = [];
  if (current !== null) addRoot(writer, roots, current);
  for (const id of threadKeys(ids)) {
    const hashed = hashedMessageId(id);
    const linked = writer.get(threadLinksTable, linkKey(inboxId, hashed));
    if (linked === undefined || !addRoot(writer, roots, linked)) untied.push(hashed);
  }
  const [first = newId<ThreadId>(nowMs), ...others] = roots;
  const root = others.reduce((kept, other) => mergeThreads(writer, kept, other, nowMs), first);
  for (const hashed of untied) addLink(writer, inboxId, hashed, root);
  return roots.size === 0 ? root : canonicalThread(writer, root);
}

/** Adds the root of a thread id; false when its conversation has ended and the sweeper has not come by yet. */
function addRoot(reader: Reader, roots: Set<ThreadId>, id: ThreadId): boolean {
  const root = rootOfThread(reader, id);
  const isThere = reader.has(threadsTable, root);
  if (isThere) roots.add(root);
  return isThere;
}
