import { notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, type InboxId, toId } from '../domain/ids.js';
import { getInbox, type InboxRecord } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';

/**
 * The caller's own things. Whatever is missing, deleted or another account's gives the same `not_found`
 * (specification, general rule 7). `id` is text from outside.
 */

export function ownedInbox(reader: Reader, accountId: AccountId, id: string): Result<InboxRecord> {
  const inboxId = toId<InboxId>(id);
  const inbox = inboxId === null ? undefined : getInbox(reader, inboxId);
  return inbox?.accountId === accountId ? ok(inbox) : notFound('inbox');
}
