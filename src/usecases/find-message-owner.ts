import { notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, type MessageId, toId } from '../domain/ids.js';
import { getInbox } from '../store/inboxes.js';
import { getMessage } from '../store/messages.js';
import type { Reader } from '../store/reader-writer.js';

/** The account that a message belongs to: an admin reads any message, in its owner's name. */
export function findMessageOwner(reader: Reader, messageId: string): Result<AccountId> {
  const id = toId<MessageId>(messageId);
  const message = id === null ? undefined : getMessage(reader, id);
  const inbox = message === undefined ? undefined : getInbox(reader, message.inboxId);
  return inbox === undefined ? notFound(`message ${messageId}`) : ok(inbox.accountId);
}
