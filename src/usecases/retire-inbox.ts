import { fail, ok, type Result } from '../domain/errors.js';
import { getAccount } from '../store/accounts.js';
import { addressOf, type InboxRecord, removeInbox } from '../store/inboxes.js';
import { addPending } from '../store/pending.js';
import type { Writer } from '../store/reader-writer.js';
import type { Deleted } from './delete-message.js';

/**
 * Takes an inbox out of use, whoever asked: its slot is free and its address retired with this unit of
 * work, its mail is erased by the sweeper.
 */
export function retireInbox(writer: Writer, inbox: InboxRecord, nowMs: number): Result<Deleted> {
  if (isProtected(writer, inbox)) {
    return fail('protected_inbox', `${addressOf(inbox)} serves the whole service and cannot be deleted.`);
  }
  removeInbox(writer, inbox, nowMs);
  addPending(writer, nowMs, { kind: 'purge-inbox', id: inbox.id });
  return ok<Deleted>({
    id: inbox.id,
    status: 'deletion_pending',
    message: 'The inbox is gone and its address retired; its stored mail is being removed.',
  });
}

/** The support inbox (specification) and the operator's own, without which postmaster mail has no home. */
function isProtected(writer: Writer, inbox: InboxRecord): boolean {
  return inbox.localPart === 'hello' || getAccount(writer, inbox.accountId)?.isOperator === true;
}
