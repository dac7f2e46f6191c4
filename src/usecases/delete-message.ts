import { fail, ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import { getAccount } from '../store/accounts.js';
import { releaseBlob } from '../store/blobs.js';
import { blobsOf, type ReceivedRecord, removeMessage } from '../store/messages.js';
import { removePending } from '../store/pending.js';
import type { Reader, Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { ownedMessage } from './owned.js';
import type { Clock } from './ports.js';

/** Answer to a deletion (wire contract, `Deleted`). */
export interface Deleted {
  readonly id: string;
  readonly status: 'deletion_pending';
  readonly message: string;
}

/**
 * Deletes a received message for good, finished or not (specification, Deletion): out of reach when this
 * resolves, its bytes freed by the sweeper.
 */
export function deleteMessage(
  deps: { store: Store; clock: Clock },
  input: { accountId: AccountId; messageId: string },
): Promise<Result<Deleted>> {
  return deps.store.write(writer => {
    const owned = ownedMessage(writer, input.accountId, input.messageId);
    if (!owned.ok) return owned;
    const permission = mayDelete(writer, input.accountId);
    if (!permission.ok) return permission;
    eraseMessage(writer, owned.value, deps.clock());
    return ok<Deleted>({
      id: owned.value.id,
      status: 'deletion_pending',
      message: 'The message is gone; its stored bytes are being removed.',
    });
  });
}

/** Deletion may be switched off for an account (specification, Authentication rule 4). */
export function mayDelete(reader: Reader, accountId: AccountId): Result<true> {
  return getAccount(reader, accountId)?.permissions.delete === true
    ? ok<true>(true)
    : fail('operation_not_allowed', 'Deletion is switched off for this account. Ask its administrator.');
}

/** Takes a message and all that belongs to it out of the store. */
export function eraseMessage(writer: Writer, record: ReceivedRecord, nowMs: number): void {
  if (record.parseDueAt !== null) {
    removePending(writer, { kind: 'parse', dueAt: record.parseDueAt, id: record.id });
  }
  for (const blob of blobsOf(record)) releaseBlob(writer, blob, nowMs);
  removeMessage(writer, record);
}
