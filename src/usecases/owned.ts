import { notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, type InboxId, type MessageId, toId } from '../domain/ids.js';
import { getInbox, type InboxRecord } from '../store/inboxes.js';
import { getMessage, type ReceivedRecord } from '../store/messages.js';
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

export function ownedMessage(reader: Reader, accountId: AccountId, id: string): Result<ReceivedRecord> {
  const messageId = toId<MessageId>(id);
  const record = messageId === null ? undefined : getMessage(reader, messageId);
  // The inbox decides: mail of a deleted inbox is gone at once, before the sweeper has freed it.
  if (record === undefined || getInbox(reader, record.inboxId)?.accountId !== accountId) {
    return notFound('message');
  }
  return ok(record);
}
