import { fail, ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import { normaliseName } from '../domain/names.js';
import { putInbox } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { type InboxView, viewInbox } from './inbox-view.js';
import { ownedInbox } from './owned.js';

export interface UpdateInboxInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  /** Absent: unchanged; null or blank: cleared. */
  readonly name?: string | null | undefined;
  readonly senderName?: string | null | undefined;
}

/** Changes the names of an inbox (wire contract 3.3). */
export async function updateInbox(
  deps: { store: Store },
  input: UpdateInboxInput,
): Promise<Result<InboxView>> {
  if (input.name === undefined && input.senderName === undefined) {
    return fail('invalid_inbox', 'Give name, sender_name or both.');
  }
  const name = normaliseName('name', input.name);
  if (!name.ok) return name;
  const senderName = normaliseName('sender_name', input.senderName);
  if (!senderName.ok) return senderName;
  return deps.store.write(writer => {
    const owned = ownedInbox(writer, input.accountId, input.inboxId);
    if (!owned.ok) return owned;
    const inbox = {
      ...owned.value,
      name: input.name === undefined ? owned.value.name : name.value,
      senderName: input.senderName === undefined ? owned.value.senderName : senderName.value,
    };
    putInbox(writer, inbox);
    return ok(viewInbox(inbox));
  });
}
