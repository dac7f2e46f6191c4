import type { Deleted } from '../../contract/common.js';
import type { Inbox, InboxList, UpdateInbox } from '../../contract/inboxes.js';
import { toInboxAddress } from '../../domain/addresses.js';
import { notFound, refuse } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { normaliseName } from '../../domain/text.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { getCounters, KINDS } from '../../store/mailbox/folders.js';
import { getAccount } from '../../store/records/accounts.js';
import { noteEvent } from '../../store/records/events.js';
import {
  addressOf,
  findAddress,
  type InboxRecord,
  listInboxes as listInboxRecords,
  putInbox,
  releaseAddress,
  removeInbox,
} from '../../store/records/inboxes.js';
import { addPending } from '../../store/records/pending.js';
import { countStored, draftBytes, forgetDraftBytes } from '../../store/records/storage.js';
import { type DefaultLimits, inboxAllowance } from '../accounts/accounts.js';
import type { Clock } from '../ports.js';
import { type Caller, locateInbox } from '../shared/callers.js';

/** More than any account is meant to hold: `listInboxes` has no pages. */
const MAX_LISTED = 100_000;

export function listInboxes(deps: { store: Store; limits: DefaultLimits }, accountId: AccountId): InboxList {
  return deps.store.read(reader => {
    const account = getAccount(reader, accountId);
    if (account === undefined) throw notFound('account');
    const allowance = inboxAllowance(reader, account, deps.limits);
    return {
      inboxes: listInboxRecords(reader, accountId, MAX_LISTED).map(viewInbox),
      inbox_limit: allowance.allowance,
      inbox_allowance: allowance,
    };
  });
}

export function getInbox(deps: { store: Store }, accountId: AccountId, inboxId: string): Inbox {
  return deps.store.read(reader => {
    return viewInbox(locateInbox(reader, { accountId }, inboxId));
  });
}

/** An inbox as agents and the command line see it. */
export function viewInbox(inbox: InboxRecord): Inbox {
  return {
    id: inbox.id,
    local_part: inbox.localPart,
    address: addressOf(inbox),
    name: inbox.name,
    sender_name: inbox.senderName,
    created_at: toInstant(inbox.createdAt),
  };
}

/** The `from` of mail that the inbox sends. */
export function senderOf(inbox: InboxRecord): { readonly address: string; readonly name?: string } {
  const address = addressOf(inbox);
  return inbox.senderName === null ? { address } : { address, name: inbox.senderName };
}

/** Which inbox is meant. */
export type InboxInput = Caller & {
  /** Text from outside; an admin may give the address. */
  readonly inboxId: string;
};

/** Changes the names of an inbox (`updateInbox`). */
export async function updateInbox(deps: { store: Store }, input: InboxInput & UpdateInbox): Promise<Inbox> {
  if (input.name === undefined && input.sender_name === undefined) {
    throw refuse('invalid_inbox', 'Give name, sender_name or both.');
  }
  const name = normaliseName('name', input.name);
  const senderName = normaliseName('sender_name', input.sender_name);
  return deps.store.write(writer => {
    const before = locateInbox(writer, input, input.inboxId);
    const inbox = {
      ...before,
      name: input.name === undefined ? before.name : name,
      senderName: input.sender_name === undefined ? before.senderName : senderName,
    };
    putInbox(writer, inbox);
    return viewInbox(inbox);
  });
}

/**
 * Deletes an inbox with all it holds (`deleteInbox`). When this resolves the slot is free, the address is retired and
 * the mail is out of reach; the sweeper erases it later.
 */
export function deleteInbox(deps: { store: Store; clock: Clock }, input: InboxInput): Promise<Deleted> {
  return deps.store.write(writer => {
    const inbox = locateInbox(writer, input, input.inboxId, 'delete');
    return retireInbox(writer, inbox, deps.clock());
  }, 'settle');
}

/**
 * Takes an inbox out of use for agents and admins alike. With this unit of work the slot is free and the address
 * retired; the sweeper erases the mail later.
 */
function retireInbox(writer: Writer, inbox: InboxRecord, nowMs: number): Deleted {
  if (isProtected(writer, inbox)) {
    throw refuse('protected_inbox', `${addressOf(inbox)} serves the whole service and cannot be deleted.`);
  }
  forgetStored(writer, inbox);
  noteEvent(writer, { type: 'inbox.deleted', inboxId: inbox.id }, nowMs);
  removeInbox(writer, inbox, nowMs);
  addPending(writer, nowMs, { kind: 'purge-inbox', id: inbox.id });
  return {
    id: inbox.id,
    status: 'deletion_pending',
    message: 'The inbox is gone and its address retired; its stored mail is being removed.',
  };
}

/** What the inbox holds stops counting for its account at once. */
function forgetStored(writer: Writer, { id, accountId }: InboxRecord): void {
  const ofFolders = KINDS.map(kind => getCounters(writer, { inboxId: id, kind }).bytes);
  const bytes = ofFolders.reduce((sum, ofFolder) => sum + ofFolder, draftBytes(writer, id));
  countStored(writer, accountId, -bytes);
  forgetDraftBytes(writer, id);
}

/**
 * Gives the address of a deleted inbox free again, for an admin who accepts that mail for its old holder reaches the new
 * one (`postern inbox release`).
 * @returns the address in the form in which it is looked up
 * @throws `not_found` for an address that is not retired, `address_unavailable` for that of a living inbox
 */
export function releaseInboxAddress(deps: { store: Store }, address: string): Promise<{ address: string }> {
  return deps.store.write(writer => {
    const parts = toInboxAddress(address.trim());
    if (parts === null) throw notFound(`retired address ${address}`);
    const found = `${parts.localPart}@${parts.domain}`;
    if (findAddress(writer, found)?.status === 'live') {
      throw refuse(
        'address_unavailable',
        `${found} is the address of an inbox in use; delete the inbox first.`,
      );
    }
    if (!releaseAddress(writer, found)) throw notFound(`retired address ${address}`);
    return { address: found };
  }, 'settle');
}

/** Inboxes that cannot be deleted: `hello`, the support inbox, and the operator's own, which gets postmaster mail. */
function isProtected(writer: Writer, inbox: InboxRecord): boolean {
  return inbox.localPart === 'hello' || getAccount(writer, inbox.accountId)?.isOperator === true;
}
