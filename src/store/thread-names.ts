import { type InboxId, idFromBytes, idToBytes, type ThreadId } from '../domain/ids.js';
import { joinKey, u8, u48 } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import type { Table } from './table.js';
import { addMergedPart } from './thread-parts.js';

/**
 * What the ids of conversations that were merged stand for. Members are kept under one id, the root: the one
 * that more messages had joined, so that a merge moves the smaller part. Every other id leads there, from
 * smaller to larger, so that no way is longer than the binary logarithm of the number of messages. The id
 * that is shown, the canonical one, is the oldest of them (decisions, Threads), whichever the root is.
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

/** Far above any logarithm: a way that is longer goes in a circle. */
const MAX_STEPS = 64;

export interface ResolvedThread {
  /** The id that the members are kept under. */
  readonly root: ThreadId;
  /** The id that it is shown by. */
  readonly shown: ThreadId;
}

/** @throws when the ids go in a circle (damage) */
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

/** Lets a root that is no longer one lead to another, which is shown as `shown` from now on. */
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

export function countMerged(writer: Writer, inboxId: InboxId, change: 1 | -1): void {
  const count = (writer.get(mergedThreadsTable, inboxId) ?? 0) + change;
  if (count > 0) writer.put(mergedThreadsTable, inboxId, count);
  else writer.remove(mergedThreadsTable, inboxId);
}
