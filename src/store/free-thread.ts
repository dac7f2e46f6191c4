import type { InboxId, ThreadId } from '../domain/ids.js';
import { addPending } from './pending.js';
import type { Writer } from './reader-writer.js';
import { countMerged, threadAliasesTable } from './thread-names.js';
import { linkKey, removePart, scanParts, type ThreadPart, threadLinksTable } from './thread-parts.js';

/** At once: nothing has to come before it. */
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
