import { hashLinkToken, isLinkToken } from '../domain/link-token.js';
import type { AccountPermissions, AccountRecord } from '../store/accounts.js';
import { type ApprovalLink, findLink } from '../store/approvals.js';
import { addressOf, type InboxRecord, listInboxes } from '../store/inboxes.js';
import type { Reader } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { recordAudit } from './audit.js';
import type { Clock, Logger } from './ports.js';
import { eligible, type SignupPolicy } from './signup-policy.js';

/** What a token opens at this moment. */
export type ApprovalState =
  | { readonly status: 'open'; readonly link: ApprovalLink; readonly account: AccountRecord | null }
  /** Never given out, mangled on the way, or forgotten since. */
  | { readonly status: 'unknown' }
  | { readonly status: 'expired' }
  /** A phrase was shown for it: there is no second one. */
  | { readonly status: 'used' }
  /** The address may have no access any more. */
  | { readonly status: 'not_eligible' };

export function findApproval(
  reader: Reader,
  policy: SignupPolicy,
  token: string,
  nowMs: number,
): ApprovalState {
  const link = isLinkToken(token) ? findLink(reader, hashLinkToken(token)) : undefined;
  if (link === undefined || link.method !== policy.proof) return { status: 'unknown' };
  if (link.approvedAt !== null) return { status: 'used' };
  if (link.expiresAt <= nowMs) return { status: 'expired' };
  const found = eligible(reader, policy, link.email, link.method);
  return found === null ? { status: 'not_eligible' } : { status: 'open', link, account: found.account };
}

export interface ViewApprovalDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy: SignupPolicy;
  readonly log: Logger;
}

/** What a human is shown before deciding. */
export interface ApprovalOffer {
  readonly status: 'open';
  readonly email: string;
  readonly method: ApprovalLink['method'];
  /** False: an account is made when the phrase is redeemed. */
  readonly hasAccount: boolean;
  readonly permissions: AccountPermissions;
  /** Addresses that the agent will reach, some of them if they are many. */
  readonly inboxes: readonly string[];
  readonly inboxCount: number;
  readonly expiresAt: number;
}

export type ApprovalView = ApprovalOffer | Exclude<ApprovalState, { status: 'open' }>;

const MAX_SHOWN = 10;
const NEW_ACCOUNT: AccountPermissions = { send: true, delete: true, restore: true };

/** Looks at a link and changes nothing: programs that follow every link in a mail do no harm. */
export function viewApproval(deps: ViewApprovalDeps, token: string): ApprovalView {
  return deps.store.read(reader => {
    const state = findApproval(reader, deps.policy, token, deps.clock());
    if (state.status !== 'open') return state;
    const { link, account } = state;
    const inboxes: InboxRecord[] =
      account === null ? [] : listInboxes(reader, account.id, Number.MAX_SAFE_INTEGER);
    return {
      status: 'open',
      email: link.email,
      method: link.method,
      hasAccount: account !== null,
      permissions: account?.permissions ?? NEW_ACCOUNT,
      inboxes: inboxes.slice(0, MAX_SHOWN).map(addressOf),
      inboxCount: inboxes.length,
      expiresAt: link.expiresAt,
    };
  });
}

/** Notes in the trail that a link was opened. A trail that cannot be written keeps nobody from approving. */
export async function noteOpening(
  deps: ViewApprovalDeps,
  input: { readonly token: string; readonly client: string },
): Promise<void> {
  try {
    await deps.store.write(writer => {
      const nowMs = deps.clock();
      const state = findApproval(writer, deps.policy, input.token, nowMs);
      if (state.status !== 'open') return;
      const { link, account } = state;
      const facts = { email: link.email, accountId: account?.id ?? null, approvalId: link.id };
      recordAudit(writer, nowMs, { ...facts, kind: 'opened', client: input.client });
    });
  } catch (error) {
    deps.log.error({ err: error }, 'the opening of an approval link could not be noted');
  }
}
