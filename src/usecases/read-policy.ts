import { ok, type Result } from '../domain/errors.js';
import type { AccountId, InboxId } from '../domain/ids.js';
import { getPolicy, type PolicyKind, type PolicyRecord } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { ownedInbox } from './owned.js';

/** Wire contract, `Policy`. */
export interface PolicyView {
  readonly inbox_id: string;
  readonly enabled: boolean;
  readonly addresses: readonly string[];
  readonly domains: readonly string[];
  readonly revision: number;
}

export function readPolicy(
  deps: { store: Store },
  accountId: AccountId,
  inboxId: string,
  kind: PolicyKind,
): Result<PolicyView> {
  return deps.store.read(reader => {
    const owned = ownedInbox(reader, accountId, inboxId);
    if (!owned.ok) return owned;
    return ok(viewPolicy(owned.value.id, getPolicy(reader, owned.value.id, kind)));
  });
}

export function viewPolicy(inboxId: InboxId, policy: PolicyRecord): PolicyView {
  const { enabled, addresses, domains, revision } = policy;
  return { inbox_id: inboxId, enabled, addresses, domains, revision };
}
