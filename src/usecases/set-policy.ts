import { normalisePolicyAddresses, normalisePolicyDomains } from '../domain/address-policy.js';
import { fail, ok, type Result } from '../domain/errors.js';
import { getPolicy, type PolicyKind, type PolicyRecord, putPolicy } from '../store/inboxes.js';
import type { Store } from '../store/store.js';
import { findInbox } from './find-inbox.js';
import { type PolicyView, viewPolicy } from './read-policy.js';

/** What is absent stays as it is. */
export interface PolicyChange {
  readonly enabled?: boolean | undefined;
  /** Replaces the list; empty clears it. */
  readonly addresses?: readonly string[] | undefined;
  readonly domains?: readonly string[] | undefined;
}

/**
 * An admin saves a new version of the rules of an inbox, named by address or id. It holds from its commit on:
 * for what is sent or received after it, never for what was before (wire contract 3.4 and 3.5).
 */
export async function setPolicy(
  deps: { store: Store },
  input: { readonly inbox: string; readonly kind: PolicyKind; readonly change: PolicyChange },
): Promise<Result<PolicyView>> {
  const { kind, change } = input;
  if (change.enabled === undefined && change.addresses === undefined && change.domains === undefined) {
    return fail('invalid_request', 'Give addresses, domains, enabled or several of them.');
  }
  const addresses = change.addresses === undefined ? null : normalisePolicyAddresses(change.addresses);
  if (addresses?.ok === false) return addresses;
  const domains = change.domains === undefined ? null : normalisePolicyDomains(change.domains);
  if (domains?.ok === false) return domains;
  return deps.store.write(writer => {
    const inbox = findInbox(writer, input.inbox);
    if (!inbox.ok) return inbox;
    const before = getPolicy(writer, inbox.value.id, kind);
    const after: PolicyRecord = {
      enabled: change.enabled ?? before.enabled,
      addresses: addresses?.value ?? before.addresses,
      domains: domains?.value ?? before.domains,
      revision: before.revision + 1,
    };
    putPolicy(writer, inbox.value.id, kind, after);
    return ok(viewPolicy(inbox.value.id, after));
  });
}
