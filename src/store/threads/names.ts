import { hash } from 'node:crypto';
import { type InboxId, idFromBytes, idToBytes, type ThreadId } from '../../domain/ids.js';
import { joinKey, range, u8, u48 } from '../engine/keys.js';
import { bytesKey, idValue, noValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import { idField, replaceIdField } from '../mailbox/folders.js';
import { addPending } from '../records/pending.js';

/**
 * What the ids of conversations that were merged stand for. Members are kept under one id, the root: the one that more
 * messages had joined, so that a merge moves the smaller part. Every other id leads there, always from the smaller
 * conversation to the larger, so a path has at most log2(number of messages) steps. The id that is shown, the canonical
 * one, is the oldest of them, whichever the root is.
 *
 * The oldest id cannot be the root as well: mail can merge a thousand conversations one after the other, each into an
 * older one. The path from the youngest would then have a thousand steps, for every line that shows it.
 */
export type ThreadAlias =
  /** Merged into this one. */
  | { readonly type: 'merged'; readonly into: ThreadId }
  /** A root, which is shown by this id. */
  | { readonly type: 'shown'; readonly as: ThreadId };

const ALIAS_BYTE = { merged: 1, shown: 2 } as const;

/** A thread id that was merged, or is not shown as itself -> what it stands for. */
export const threadAliasesTable: Table<ThreadId, ThreadAlias> = {
  name: 'thread_aliases',
  encodeKey: idToBytes,
  encodeValue: alias =>
    alias.type === 'merged'
      ? joinKey(u8(ALIAS_BYTE.merged), idToBytes(alias.into))
      : joinKey(u8(ALIAS_BYTE.shown), idToBytes(alias.as)),
  decodeValue: bytes => {
    const id = idFromBytes<ThreadId>(bytes, 1);
    return bytes[0] === ALIAS_BYTE.merged ? { type: 'merged', into: id } : { type: 'shown', as: id };
  },
};

/** Inbox -> how many of its thread ids were merged into others; most have none, which makes lists cheap. */
export const mergedThreadsTable: Table<InboxId, number> = {
  name: 'merged_threads',
  encodeKey: idToBytes,
  encodeValue: u48,
  decodeValue: bytes => bytes.readUIntBE(0, 6),
};

/** More steps than any sound path has: a longer one is a cycle. */
const MAX_STEPS = 64;

export interface ResolvedThread {
  /** The id that the members are kept under. */
  readonly root: ThreadId;
  /** The id that it is shown by. */
  readonly shown: ThreadId;
}

/** @throws when the ids form a cycle (damage) */
export function resolveThread(reader: Reader, id: ThreadId): ResolvedThread {
  let root = id;
  for (let step = 0; step < MAX_STEPS; step++) {
    const alias = reader.get(threadAliasesTable, root);
    if (alias === undefined) return { root, shown: root };
    if (alias.type === 'shown') return { root, shown: alias.as };
    root = alias.into;
  }
  throw new Error(`the ids that thread ${id} was merged into go in a circle: the store is damaged`);
}

/** The id that the members of a conversation are kept under. */
export function rootOfThread(reader: Reader, id: ThreadId): ThreadId {
  return resolveThread(reader, id).root;
}

/** The id that a conversation is shown by: the given one, or the oldest that it was merged with. */
export function canonicalThread(reader: Reader, id: ThreadId): ThreadId {
  return resolveThread(reader, id).shown;
}

/** Can an id of this inbox stand for another one? */
export function hasMergedThreads(reader: Reader, inboxId: InboxId): boolean {
  return reader.has(mergedThreadsTable, inboxId);
}

/** A message, as far as its conversation is concerned. */
interface InThread {
  readonly inboxId: InboxId;
  readonly threadId: ThreadId | null;
}

/**
 * The thread id that agents see of a message is the canonical one at the time of reading. A record and its
 * line in lists keep the one from when the message joined: a merge of large conversations would otherwise
 * have to write all of their messages. Most inboxes have no merged conversation, and nothing to resolve.
 * @returns the message with the id that is shown of its conversation now
 */
export function withShownThread<Message extends InThread>(reader: Reader, message: Message): Message {
  const { inboxId, threadId } = message;
  if (threadId === null || !hasMergedThreads(reader, inboxId)) return message;
  const shown = canonicalThread(reader, threadId);
  return shown === threadId ? message : { ...message, threadId: shown };
}

/** The same for lines of lists, which are changed in place. */
export function showThreads(reader: Reader, inboxId: InboxId, summaries: readonly Buffer[]): void {
  if (!hasMergedThreads(reader, inboxId)) return;
  for (const summary of summaries) {
    const threadId = idField<ThreadId>(summary, 'thread_id');
    if (threadId === null) continue;
    const shown = canonicalThread(reader, threadId);
    if (shown !== threadId) replaceIdField(summary, 'thread_id', shown);
  }
}

/** Makes a former root lead to another root, which is shown as `shown` from now on. */
export function mergeNames(
  writer: Writer,
  inboxId: InboxId,
  merge: { readonly from: ThreadId; readonly into: ThreadId; readonly shown: ThreadId },
): void {
  const { from, into, shown } = merge;
  writer.put(threadAliasesTable, from, { type: 'merged', into });
  addMergedPart(writer, into, from);
  if (shown !== into) writer.put(threadAliasesTable, into, { type: 'shown', as: shown });
  countMerged(writer, inboxId, 1);
}

function countMerged(writer: Writer, inboxId: InboxId, change: 1 | -1): void {
  const count = (writer.get(mergedThreadsTable, inboxId) ?? 0) + change;
  if (count > 0) writer.put(mergedThreadsTable, inboxId, count);
  else writer.remove(mergedThreadsTable, inboxId);
}

/** Message-IDs may be longer than a key can be, so they are hashed. */
const HASH_BYTES = 16;

/**
 * [inbox, hash of a Message-ID] -> the thread id that it was tied to when it was first seen. Later merges
 * change what that thread id stands for, not this entry.
 */
export const threadLinksTable: Table<Buffer, ThreadId> = {
  name: 'thread_links',
  encodeKey: bytesKey,
  ...idValue<ThreadId>(),
};

/** [thread id, kind, what]: what was tied to a thread id, and goes when its conversation ends. */
export const threadPartsTable: Table<Buffer, true> = {
  name: 'thread_parts',
  encodeKey: bytesKey,
  ...noValue,
};

export type ThreadPart =
  /** A Message-ID. */
  | { readonly type: 'link'; readonly hash: Buffer }
  /** A thread id that was merged into this one. */
  | { readonly type: 'merged'; readonly id: ThreadId };

const PART_BYTE = { link: 1, merged: 2 } as const;

export function hashedMessageId(messageId: string): Buffer {
  return hash('sha256', messageId, 'buffer').subarray(0, HASH_BYTES);
}

export function linkKey(inboxId: InboxId, hashed: Buffer): Buffer {
  return joinKey(idToBytes(inboxId), hashed);
}

function partKey(id: ThreadId, part: ThreadPart): Buffer {
  return joinKey(
    idToBytes(id),
    u8(PART_BYTE[part.type]),
    part.type === 'link' ? part.hash : idToBytes(part.id),
  );
}

/** Where the kind of a part stands in its key. */
const KIND_AT = 16;

export function readPartKey(key: Buffer): { readonly id: ThreadId; readonly part: ThreadPart } {
  const what = Buffer.from(key.subarray(KIND_AT + 1));
  const id = idFromBytes<ThreadId>(key);
  return key[KIND_AT] === PART_BYTE.link
    ? { id, part: { type: 'link', hash: what } }
    : { id, part: { type: 'merged', id: idFromBytes<ThreadId>(what) } };
}

/** Ties a Message-ID to a thread id. */
export function addLink(writer: Writer, inboxId: InboxId, hashed: Buffer, id: ThreadId): void {
  writer.put(threadLinksTable, linkKey(inboxId, hashed), id);
  writer.put(threadPartsTable, partKey(id, { type: 'link', hash: hashed }), true);
}

/** Notes that `merged` is another name of what `id` stands for. */
function addMergedPart(writer: Writer, id: ThreadId, merged: ThreadId): void {
  writer.put(threadPartsTable, partKey(id, { type: 'merged', id: merged }), true);
}

export function hasPart(reader: Reader, id: ThreadId, part: ThreadPart): boolean {
  return reader.has(threadPartsTable, partKey(id, part));
}

export function removePart(writer: Writer, id: ThreadId, part: ThreadPart): void {
  writer.remove(threadPartsTable, partKey(id, part));
}

function scanParts(reader: Reader, id: ThreadId, limit: number): ThreadPart[] {
  return reader
    .scanKeys(threadPartsTable, { ...range(idToBytes(id)), limit })
    .map(key => readPartKey(key).part);
}

/** Due at once. */
const NOW = 0;

/**
 * Frees what an ended conversation has left under one of its ids, at most `limit` entries: the Message-IDs
 * that were tied to it are forgotten, so that a late reply begins a new conversation. Ids that were merged
 * into this one are left to the sweeper, each for itself.
 * @returns how many entries were freed; fewer than `limit`, nothing is left
 */
export function freeThreadId(writer: Writer, inboxId: InboxId, id: ThreadId, limit: number): number {
  const parts = scanParts(writer, id, limit);
  for (const part of parts) {
    freePart(writer, inboxId, id, part);
    removePart(writer, id, part);
  }
  if (parts.length < limit) writer.remove(threadAliasesTable, id);
  return parts.length;
}

function freePart(writer: Writer, inboxId: InboxId, id: ThreadId, part: ThreadPart): void {
  if (part.type === 'merged') {
    writer.remove(threadAliasesTable, part.id);
    countMerged(writer, inboxId, -1);
    purgeThread(writer, inboxId, part.id);
    return;
  }
  const key = linkKey(inboxId, part.hash);
  // A conversation that began since has tied it to itself.
  if (writer.get(threadLinksTable, key) === id) writer.remove(threadLinksTable, key);
}

export function purgeThread(writer: Writer, inboxId: InboxId, id: ThreadId): void {
  addPending(writer, NOW, { kind: 'purge-thread', id, inboxId });
}
