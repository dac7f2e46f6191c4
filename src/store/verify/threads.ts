import { type InboxId, idFromBytes, type MessageId, type ThreadId } from '../../domain/ids.js';
import { messageIdsIn } from '../../domain/message-ids.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { compareMembers, edgeOf, type MemberPosition, threadTerm } from '../threads/members.js';
import { memberOutcome, type ThreadMember } from '../threads/move.js';
import {
  hashedMessageId,
  hasPart,
  linkKey,
  mergedThreadsTable,
  type ResolvedThread,
  readPartKey,
  resolveThread,
  type ThreadPart,
  threadAliasesTable,
  threadLinksTable,
  threadPartsTable,
} from '../threads/names.js';
import {
  getThread,
  ListedThread,
  memberCount,
  OUTCOMES,
  type ThreadRecord,
  threadActivityTable,
  threadsTable,
} from '../threads/threads.js';
import type { PendingFacts } from './accounts-and-pending.js';
import type { Ledger } from './ledger.js';
import { folderEntry } from './sets-and-blobs.js';

const entry = {
  member: (root: string): string => `message that belongs to thread ${root}`,
  outcome: (root: string, outcome: string): string => `${outcome} member of thread ${root}`,
  activity: (inboxId: string, { at, kind, seq }: MemberPosition, root: string, isAlone: boolean): string =>
    `thread ${root}${isAlone ? ' of one message' : ''} in the list of inbox ${inboxId} at ${at}, ${kind} message number ${seq}`,
  merged: (inboxId: string): string => `merged thread id of inbox ${inboxId}`,
};

type Ended = PendingFacts['ended'];

/** Expects the place of a message in its conversation. `messageId` is its own, with or without brackets. */
export function expectMember(
  reader: Reader,
  ledger: Ledger,
  message: ThreadMember & { readonly id: MessageId; readonly messageId: string | null },
): void {
  const { id, inboxId, threadId, status, seq } = message;
  if (threadId === null) {
    const belongsToOne = message.kind === 'sent' || status === 'ready';
    if (belongsToOne) ledger.expect(`thread of message ${id}`);
    return;
  }
  const root = rootIn(reader, ledger, threadId);
  ledger.expect(entry.member(root));
  const outcome = memberOutcome(message);
  if (outcome !== null) {
    ledger.expect(entry.outcome(root, outcome));
    ledger.expect(folderEntry.member(message, seq, threadTerm(root)));
  }
  const [own] = messageIdsIn(message.messageId ?? '', 1);
  if (own === undefined) return;
  const linked = reader.get(threadLinksTable, linkKey(inboxId, hashedMessageId(own)));
  if (linked === undefined || rootIn(reader, ledger, linked) !== root) {
    ledger.expect(`way from the Message-ID of message ${id} to its thread`);
  }
}

function rootIn(reader: Reader, ledger: Ledger, id: ThreadId): ThreadId {
  return resolveIn(reader, ledger, id).root;
}

function resolveIn(reader: Reader, ledger: Ledger, id: ThreadId): ResolvedThread {
  try {
    return resolveThread(reader, id);
  } catch {
    ledger.find(`circle of thread ids at ${id}`);
    return { root: id, shown: id };
  }
}

/** Finds the conversations and what leads to them, or to one that has ended. */
export function findThreads(reader: Reader, ledger: Ledger, ended: Ended): number {
  let count = 0;
  for (const { key, value } of walkTable(reader, threadsTable)) {
    findThread(reader, ledger, idFromBytes<ThreadId>(key), value);
    count += 1;
  }
  for (const listed of walkTable(reader, threadActivityTable)) {
    const { latest, root, isAlone } = new ListedThread(listed);
    ledger.find(entry.activity(idFromBytes<InboxId>(listed.key), latest, root, isAlone));
  }
  findNames(reader, ledger, ended);
  findLinks(reader, ledger, ended);
  for (const { key } of walkTable(reader, threadPartsTable)) findPart(reader, ledger, readPartKey(key));
  return count;
}

function findThread(reader: Reader, ledger: Ledger, root: ThreadId, thread: ThreadRecord): void {
  const { inboxId, members, joins, counts, latest } = thread;
  ledger.find(entry.member(root), members);
  for (const outcome of OUTCOMES) ledger.find(entry.outcome(root, outcome), counts[outcome]);
  if (members === 0 || joins < members) {
    ledger.find(`thread ${root} of ${members} messages that ${joins} joined`);
  }
  const resolved = resolveIn(reader, ledger, root);
  if (resolved.root !== root) ledger.find(`thread ${root}, which was merged into another`);
  if (resolved.shown !== thread.shown) ledger.find(`thread ${root} shown as ${thread.shown}`);
  for (const edge of ['earliest', 'latest'] as const) {
    if (!isSame(thread[edge], edgeOf(reader, { inboxId, root }, edge))) {
      ledger.find(`${edge} member of thread ${root}, which is another`);
    }
  }
  if (latest !== null) ledger.expect(entry.activity(inboxId, latest, root, memberCount(thread) === 1));
}

function isSame(a: MemberPosition | null, b: MemberPosition | null): boolean {
  return a === null || b === null ? a === b : compareMembers(a, b) === 0;
}

/** The inbox that a thread id belongs to, in use or about to be freed; undefined when it leads nowhere. */
function inboxOf(reader: Reader, ledger: Ledger, id: ThreadId, ended: Ended): InboxId | undefined {
  const root = rootIn(reader, ledger, id);
  return getThread(reader, root)?.inboxId ?? ended.get(root);
}

function findNames(reader: Reader, ledger: Ledger, ended: Ended): void {
  for (const { key, value } of walkTable(reader, threadAliasesTable)) {
    const id = idFromBytes<ThreadId>(key);
    const inboxId = inboxOf(reader, ledger, id, ended);
    if (inboxId === undefined) ledger.find(`thread id ${id}, which leads to no thread`);
    if (value.type !== 'merged') continue;
    if (inboxId !== undefined) ledger.expect(entry.merged(inboxId));
    expectPart(reader, ledger, value.into, { type: 'merged', id });
  }
  for (const { key, value } of walkTable(reader, mergedThreadsTable)) {
    ledger.find(entry.merged(idFromBytes<InboxId>(key)), value);
  }
}

function findLinks(reader: Reader, ledger: Ledger, ended: Ended): void {
  for (const { key, value } of walkTable(reader, threadLinksTable)) {
    const hash = key.subarray(16);
    if (inboxOf(reader, ledger, value, ended) !== idFromBytes<InboxId>(key)) {
      ledger.find(`Message-ID ${hash.toString('hex')} of thread ${value}, which is not in its inbox`);
    }
    expectPart(reader, ledger, value, { type: 'link', hash });
  }
}

/** Without it the entry would stay when its conversation ends. */
function expectPart(reader: Reader, ledger: Ledger, id: ThreadId, part: ThreadPart): void {
  if (!hasPart(reader, id, part)) ledger.expect(`part of thread ${id}: ${nameOf(part)}`);
}

/** What is noted of a thread id in use is so; of an ended one a later conversation may have taken it. */
function findPart(reader: Reader, ledger: Ledger, { id, part }: { id: ThreadId; part: ThreadPart }): void {
  const thread = getThread(reader, rootIn(reader, ledger, id));
  if (thread === undefined) return;
  const alias = part.type === 'merged' ? reader.get(threadAliasesTable, part.id) : undefined;
  const isSo =
    part.type === 'merged'
      ? alias?.type === 'merged' && alias.into === id
      : reader.get(threadLinksTable, linkKey(thread.inboxId, part.hash)) === id;
  if (!isSo) ledger.find(`part of thread ${id}: ${nameOf(part)}`);
}

function nameOf(part: ThreadPart): string {
  return part.type === 'merged' ? `merged id ${part.id}` : `Message-ID ${part.hash.toString('hex')}`;
}
