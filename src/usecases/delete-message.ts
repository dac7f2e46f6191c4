import { ok, type Result } from '../domain/errors.js';
import type { IndexedMessage } from '../store/mailbox-index.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { type MessageAccess, type MessageInput, permittedMessage } from './message-access.js';
import type { Clock } from './ports.js';

/** Answer to a deletion (wire contract, `Deleted`). */
export interface Deleted {
  readonly id: string;
  readonly status: 'deletion_pending';
  readonly message: string;
}

/**
 * Deletes a message for good, finished or not, live or in Trash (specification, Deletion): out of reach when
 * this resolves, its bytes freed by the sweeper.
 */
export function deleteMessage<Message extends IndexedMessage>(
  deps: { readonly store: Store; readonly clock: Clock; readonly access: MessageAccess<Message> },
  input: MessageInput,
): Promise<Result<Deleted>> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = permittedMessage(writer, deps.access, input, 'delete', nowMs);
    return found.ok ? ok(eraseNow(writer, deps.access, found.value, nowMs)) : found;
  });
}

/** The same, whoever asked. */
export function eraseNow<Message extends IndexedMessage>(
  writer: Writer,
  access: MessageAccess<Message>,
  message: Message,
  nowMs: number,
): Deleted {
  access.erase(writer, message, nowMs);
  return {
    id: message.id,
    status: 'deletion_pending',
    message: 'The message is gone; its stored bytes are being removed.',
  };
}
