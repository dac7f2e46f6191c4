import { notFound, ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import { getInbox } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';
import { receivedMessages, sentMessages } from './message-access.js';

/** The account that a message, received or sent, belongs to: an admin reads any message, in its owner's name. */
export function findMessageOwner(reader: Reader, messageId: string): Result<AccountId> {
  const message = receivedMessages.get(reader, messageId) ?? sentMessages.get(reader, messageId);
  const inbox = message === undefined ? undefined : getInbox(reader, message.inboxId);
  return inbox === undefined ? notFound(`message ${messageId}`) : ok(inbox.accountId);
}
