import type { ThreadIds } from '../domain/content.js';
import { type InboxId, newId, type ThreadId } from '../domain/ids.js';
import { threadKeys } from '../domain/thread-keys.js';
import { mergeThreads } from './move-in-threads.js';
import type { Reader, Writer } from './reader-writer.js';
import { canonicalThread, rootOfThread } from './thread-names.js';
import { addLink, hashedMessageId, linkKey, threadLinksTable } from './thread-parts.js';
import { threadsTable } from './threads.js';

/**
 * Which conversation a Message-ID belongs to, within one inbox (decisions, Threads). Every id that a message
 * bears or mentions is tied to one conversation; a message that mentions ids of several makes one of them.
 * What is tied together does not depend on the order in which messages arrive, nor on which of them are
 * deleted, as long as one is left. With the last one the conversation ends and its ids are forgotten.
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
  ids: ThreadIds,
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
  const root = others.reduce((kept, other) => mergeThreads(writer, kept, other), first);
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
