import { notFound, ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import { getAccount } from '../store/accounts.js';
import { listInboxes as listInboxRecords } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { type DefaultLimits, type InboxAllowance, inboxAllowance } from './allowances.js';
import { type InboxView, viewInbox } from './inbox-view.js';
import { ownedInbox } from './owned.js';

export interface InboxList {
  readonly inboxes: readonly InboxView[];
  readonly inbox_limit: number;
  readonly inbox_allowance: InboxAllowance;
}

/** More than any account is meant to hold: the list is not paginated (wire contract 3.1). */
const MAX_LISTED = 100_000;

export function listInboxes(
  deps: { store: Store; limits: DefaultLimits },
  accountId: AccountId,
): Result<InboxList> {
  return deps.store.read(reader => {
    const account = getAccount(reader, accountId);
    if (account === undefined) return notFound('account');
    const allowance = inboxAllowance(reader, account, deps.limits);
    return ok({
      inboxes: listInboxRecords(reader, accountId, MAX_LISTED).map(viewInbox),
      inbox_limit: allowance.allowance,
      inbox_allowance: allowance,
    });
  });
}

export function getInbox(deps: { store: Store }, accountId: AccountId, inboxId: string): Result<InboxView> {
  return deps.store.read(reader => {
    const owned = ownedInbox(reader, accountId, inboxId);
    return owned.ok ? ok(viewInbox(owned.value)) : owned;
  });
}
