import type { Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import type { Store } from '../store/store.js';
import type { Deleted } from './delete-message.js';
import { ownedInbox } from './owned.js';
import { isPermitted } from './permissions.js';
import type { Clock } from './ports.js';
import { retireInbox } from './retire-inbox.js';

/**
 * Deletes an inbox with all it holds (wire contract 3.3): slot free and address retired when this
 * resolves, its mail out of reach with it and erased by the sweeper.
 */
export function deleteInbox(
  deps: { store: Store; clock: Clock },
  input: { accountId: AccountId; inboxId: string },
): Promise<Result<Deleted>> {
  return deps.store.write(writer => {
    const owned = ownedInbox(writer, input.accountId, input.inboxId);
    if (!owned.ok) return owned;
    const permission = isPermitted(writer, input.accountId, 'delete');
    return permission.ok ? retireInbox(writer, owned.value, deps.clock()) : permission;
  });
}
