import type { Policy } from '../../contract/inboxes.js';
import {
  blockedRecipients,
  normalisePolicyAddresses,
  normalisePolicyDomains,
} from '../../domain/address-policy.js';
import type { AuthorRequirement } from '../../domain/author-rules.js';
import { refuse } from '../../domain/errors.js';
import type { AccountId, InboxId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { getPolicy, type PolicyKind, type PolicyRecord, putPolicy } from '../../store/records/inboxes.js';
import { ADMIN, locateInbox } from '../shared/callers.js';

/** What is absent stays as it is. */
export interface PolicyChange {
  readonly enabled?: boolean | undefined;
  /** Replaces the list; empty clears it. */
  readonly addresses?: readonly string[] | undefined;
  readonly domains?: readonly string[] | undefined;
  /** Of receiving rules: takes the place of the requirement; null: there is none any more. */
  readonly requirement?: AuthorRequirement | null | undefined;
}

/** The rules as an admin sees them: what an inbox requires of authors is nothing that its agents are shown. */
export interface AdminPolicy extends Policy {
  /** Absent without a requirement. */
  readonly require_authentication?: AuthorRequirement;
}

/**
 * An admin saves a new version of the rules of an inbox, named by address or id. It applies to what is sent or received
 * after the commit, never to earlier mail.
 */
export async function setPolicy(
  deps: { store: Store },
  input: { readonly inbox: string; readonly kind: PolicyKind; readonly change: PolicyChange },
): Promise<AdminPolicy> {
  const { kind, change } = input;
  if (Object.values(change).every(value => value === undefined)) {
    throw refuse('invalid_request', 'Give addresses, domains, enabled or several of them.');
  }
  const addresses = change.addresses === undefined ? null : normalisePolicyAddresses(change.addresses);
  const domains = change.domains === undefined ? null : normalisePolicyDomains(change.domains);
  const requirement = normaliseRequirement(kind, change.requirement);
  return deps.store.write(writer => {
    const inbox = locateInbox(writer, ADMIN, input.inbox);
    const before = getPolicy(writer, inbox.id, kind);
    const after: PolicyRecord = {
      enabled: change.enabled ?? before.enabled,
      addresses: addresses ?? before.addresses,
      domains: domains ?? before.domains,
      revision: before.revision + 1,
      requirement: requirement === undefined ? (before.requirement ?? null) : requirement,
    };
    putPolicy(writer, inbox.id, kind, after);
    return viewForAdmin(inbox.id, after);
  }, 'settle');
}

function normaliseRequirement(
  kind: PolicyKind,
  requirement: AuthorRequirement | null | undefined,
): AuthorRequirement | null | undefined {
  if (requirement === null || requirement === undefined) return requirement;
  if (kind === 'sending') throw refuse('invalid_request', 'Only receiving rules can require authentication.');
  return {
    addresses: normalisePolicyAddresses(requirement.addresses),
    domains: normalisePolicyDomains(requirement.domains),
  };
}

/** An admin looks at the rules of an inbox, named by address or id. */
export function readAdminPolicy(deps: { store: Store }, inbox: string, kind: PolicyKind): AdminPolicy {
  return deps.store.read(reader => {
    const { id } = locateInbox(reader, ADMIN, inbox);
    return viewForAdmin(id, getPolicy(reader, id, kind));
  });
}

export function readPolicy(
  deps: { store: Store },
  accountId: AccountId,
  inboxId: string,
  kind: PolicyKind,
): Policy {
  return deps.store.read(reader => {
    const inbox = locateInbox(reader, { accountId }, inboxId);
    return viewPolicy(inbox.id, getPolicy(reader, inbox.id, kind));
  });
}

function viewForAdmin(inboxId: InboxId, policy: PolicyRecord): AdminPolicy {
  const { requirement } = policy;
  const view = viewPolicy(inboxId, policy);
  return requirement == null ? view : { ...view, require_authentication: requirement };
}

function viewPolicy(inboxId: InboxId, policy: PolicyRecord): Policy {
  const { enabled, addresses, domains, revision } = policy;
  return { inbox_id: inboxId, enabled, addresses, domains, revision };
}

/** Refuses unless the sending rules of the inbox (`getSendingPolicy`) allow every recipient. */
export function checkSendingPolicy(reader: Reader, inboxId: InboxId, addresses: readonly string[]): void {
  const blocked = blockedRecipients(getPolicy(reader, inboxId, 'sending'), addresses);
  if (blocked.length === 0) return;
  throw refuse(
    'recipient_not_allowed',
    `The sending rules of this inbox do not allow ${blocked.join(', ')}; nothing was sent. Ask the administrator to allow them, or leave them out.`,
  );
}
