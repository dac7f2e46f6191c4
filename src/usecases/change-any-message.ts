import { notFound, ok, type Result } from '../domain/errors.js';
import { getInbox } from '../store/inboxes.js';
import type { ReceivedRecord } from '../store/messages.js';
import type { Reader } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { type Deleted, eraseNow } from './delete-message.js';
import { isOver, receivedMessages } from './message-access.js';
import type { Clock } from './ports.js';
import { type Restored, restoreNow, type Trashed, trashNow } from './trash-message.js';

/**
 * An admin acts on a message of any account. The account's permissions bind its agents, not the admin who
 * gave them; what is over for them, a message past its time in Trash, is over for the admin too.
 */
interface AdminDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export function trashAnyMessage(
  deps: AdminDeps & { readonly retentionDays: number },
  messageId: string,
): Promise<Result<Trashed>> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = anyMessage(writer, messageId, nowMs);
    if (!found.ok) return found;
    return ok(trashNow(writer, { ...deps, access: receivedMessages }, found.value, nowMs));
  });
}

export function restoreAnyMessage(deps: AdminDeps, messageId: string): Promise<Result<Restored>> {
  return deps.store.write(writer => {
    const found = anyMessage(writer, messageId, deps.clock());
    return found.ok ? ok(restoreNow(writer, receivedMessages, found.value)) : found;
  });
}

export function deleteAnyMessage(deps: AdminDeps, messageId: string): Promise<Result<Deleted>> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = anyMessage(writer, messageId, nowMs);
    return found.ok ? ok(eraseNow(writer, receivedMessages, found.value, nowMs)) : found;
  });
}

/** A message, live or in Trash, of an inbox that is there. */
export function anyMessage(reader: Reader, messageId: string, nowMs: number): Result<ReceivedRecord> {
  const message = receivedMessages.get(reader, messageId);
  const isThere =
    message !== undefined && getInbox(reader, message.inboxId) !== undefined && !isOver(message, nowMs);
  return isThere ? ok(message) : notFound(`message ${messageId}`);
}
