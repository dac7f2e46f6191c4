import type { Result } from '../domain/errors.js';
import type { Store } from '../store/store.js';
import type { Deleted } from './delete-message.js';
import { findInbox } from './find-inbox.js';
import type { Clock } from './ports.js';
import { retireInbox } from './retire-inbox.js';

/**
 * An admin deletes an inbox, by address or id. The account's delete permission binds its agents, not the
 * admin who gave it; an inbox that the service needs is protected from both.
 */
export function deleteAnyInbox(
  deps: { store: Store; clock: Clock },
  addressOrId: string,
): Promise<Result<Deleted>> {
  return deps.store.write(writer => {
    const inbox = findInbox(writer, addressOrId);
    return inbox.ok ? retireInbox(writer, inbox.value, deps.clock()) : inbox;
  });
}
