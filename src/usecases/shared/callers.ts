import { toMailboxAddress } from '../../domain/addresses.js';
import { notFound, refuse } from '../../domain/errors.js';
import { type AccountId, type InboxId, toId } from '../../domain/ids.js';
import type { Reader } from '../../store/engine/tables.js';
import { type AccountPermissions, getAccount } from '../../store/records/accounts.js';
import { findAddress, getInbox, type InboxRecord } from '../../store/records/inboxes.js';

/**
 * The caller's own things. Whatever is missing, deleted or another account's gives the same `not_found`
 * (specification, general rule 7). `id` is text from outside.
 */

export function ownedInbox(reader: Reader, accountId: AccountId, id: string): InboxRecord {
  const inboxId = toId<InboxId>(id);
  const inbox = inboxId === null ? undefined : getInbox(reader, inboxId);
  if (inbox?.accountId !== accountId) throw notFound('inbox');
  return inbox;
}

const WORDS: Record<keyof AccountPermissions, string> = {
  send: 'Sending',
  delete: 'Deletion',
  restore: 'Restoring',
};

/** May the account do this? An admin can switch each off. */
export function isPermitted(
  reader: Reader,
  accountId: AccountId,
  permission: keyof AccountPermissions,
): boolean {
  return getAccount(reader, accountId)?.permissions[permission] === true;
}

/** Refuses what is switched off for the account: `operation_not_allowed`. */
export function checkPermitted(
  reader: Reader,
  accountId: AccountId,
  permission: keyof AccountPermissions,
): void {
  if (isPermitted(reader, accountId, permission)) return;
  throw refuse(
    'operation_not_allowed',
    `${WORDS[permission]} is switched off for this account. Ask its administrator.`,
  );
}

/** Longest address there can be (RFC 5321 section 4.5.3.1): what is longer is not looked up. */
const MAX_ADDRESS_LENGTH = 320;

/** The live inbox that an admin names by address or id, whoever owns it. */
export function findInbox(reader: Reader, addressOrId: string): InboxRecord {
  const id = toId<InboxId>(addressOrId) ?? inboxIdAt(reader, addressOrId);
  const inbox = id === null ? undefined : getInbox(reader, id);
  if (inbox === undefined) throw notFound(`inbox ${addressOrId}`);
  return inbox;
}

/** An inbox is named by its own address: one with a `+tag` reaches it, but is not its name. */
function inboxIdAt(reader: Reader, address: string): InboxId | null {
  const mailbox = address.length > MAX_ADDRESS_LENGTH ? null : toMailboxAddress(address.trim());
  if (mailbox === null || address.includes('+')) return null;
  const owner = findAddress(reader, `${mailbox.localPart}@${mailbox.domain}`);
  return owner?.status === 'live' ? owner.inboxId : null;
}
