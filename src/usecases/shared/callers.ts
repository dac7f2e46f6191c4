import { MAX_SOUGHT_ADDRESS_LENGTH } from '../../contract/limits.js';
import { toInboxAddress } from '../../domain/addresses.js';
import { notFound, refuse } from '../../domain/errors.js';
import { type AccountId, type InboxId, toId } from '../../domain/ids.js';
import type { Reader } from '../../store/engine/tables.js';
import { type AccountPermissions, getAccount } from '../../store/records/accounts.js';
import { findAddress, getInbox, type InboxRecord } from '../../store/records/inboxes.js';

/**
 * Who asks: an account, which reaches its own things within its permissions, or the admin at the command line, who
 * reaches everything. Permissions do not bind the admin, who sets them for the agents of an account. Anything missing,
 * deleted or of another account is refused with the same `not_found`.
 */
export type Caller = { readonly accountId: AccountId } | { readonly admin: true };

export const ADMIN: Caller = { admin: true };

/** The live inbox with this id if the caller reaches it; null otherwise. */
export function reachedInbox(reader: Reader, caller: Caller, id: InboxId): InboxRecord | null {
  const inbox = getInbox(reader, id);
  const isReached = inbox !== undefined && ('admin' in caller || inbox.accountId === caller.accountId);
  return isReached ? inbox : null;
}

/**
 * A live inbox of the caller.
 * @param name its id; an admin may also name it by its address
 * @param may the permission that is needed, checked after ownership
 */
export function locateInbox(
  reader: Reader,
  caller: Caller,
  name: string,
  may?: keyof AccountPermissions,
): InboxRecord {
  const id = toId<InboxId>(name) ?? ('admin' in caller ? inboxIdAt(reader, name) : null);
  const inbox = id === null ? null : reachedInbox(reader, caller, id);
  if (inbox === null) throw notFound('admin' in caller ? `inbox ${name}` : 'inbox');
  if (may !== undefined) checkPermitted(reader, caller, may);
  return inbox;
}

/** An inbox is named by its own address: one with a `+tag` reaches it, but is not its name. */
function inboxIdAt(reader: Reader, address: string): InboxId | null {
  // What is longer than any address is not looked up.
  const mailbox = address.length > MAX_SOUGHT_ADDRESS_LENGTH ? null : toInboxAddress(address.trim());
  if (mailbox === null || address.includes('+')) return null;
  const owner = findAddress(reader, `${mailbox.localPart}@${mailbox.domain}`);
  return owner?.status === 'live' ? owner.inboxId : null;
}

const WORDS: Record<keyof AccountPermissions, string> = {
  send: 'Sending',
  delete: 'Deletion',
  restore: 'Restoring',
};

/** May the caller do this? An admin can switch each off for an account. */
export function isPermitted(reader: Reader, caller: Caller, permission: keyof AccountPermissions): boolean {
  return 'admin' in caller || getAccount(reader, caller.accountId)?.permissions[permission] === true;
}

/** Refuses what is switched off for the caller: `operation_not_allowed`. */
export function checkPermitted(reader: Reader, caller: Caller, permission: keyof AccountPermissions): void {
  if (isPermitted(reader, caller, permission)) return;
  throw refuse(
    'operation_not_allowed',
    `${WORDS[permission]} is switched off for this account. Ask its administrator.`,
  );
}
