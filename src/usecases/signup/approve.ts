import { refuse, resultOf } from '../../domain/errors.js';
import { type ApprovalId, newId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { hashClaimPhrase, hashLinkToken, isLinkToken, newClaimPhrase } from '../../domain/secrets.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import type { AccountPermissions, AccountRecord } from '../../store/records/accounts.js';
import {
  type ApprovalLink,
  type ClaimPhrase,
  findLink,
  putLink,
  putNewPhrase,
} from '../../store/records/approvals.js';
import { addressOf, type InboxRecord, listInboxes } from '../../store/records/inboxes.js';
import { checkNoInboxHas, findAccount } from '../accounts/accounts.js';
import { recordAudit } from '../accounts/audit.js';
import type { Clock, Logger } from '../ports.js';
import { eligible, PHRASE_LIFETIME_MS, PRESS_WINDOW_MS, type SignupPolicy } from './policy.js';

export interface ApproveDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy: SignupPolicy;
  readonly log: Logger;
}

export interface ApproveInput {
  readonly token: string;
  /** When the page with the button was opened; its seal vouches for it. */
  readonly openedAt: number;
  readonly client: string;
}

export type ApproveOutcome =
  | {
      readonly status: 'approved';
      readonly email: string;
      /** In this answer and nowhere else: only its hash is kept. */
      readonly phrase: string;
      readonly expiresAt: number;
    }
  /** Too long since the link was opened: open it again. */
  | { readonly status: 'window_over' }
  | Exclude<ApprovalState, { status: 'open' }>;

/**
 * A human presses Approve. One link gives one phrase: check and use are one unit of work, so of two presses one
 * gets it. No account is made here; redeeming does that.
 */
export async function approve(deps: ApproveDeps, input: ApproveInput): Promise<ApproveOutcome> {
  const outcome = await deps.store.write((writer): ApproveOutcome => {
    const nowMs = deps.clock();
    const state = findApproval(writer, deps.policy, input.token, nowMs);
    if (state.status !== 'open') return state;
    if (nowMs - input.openedAt > PRESS_WINDOW_MS) return { status: 'window_over' };
    const { link, account } = state;
    putLink(writer, hashLinkToken(input.token), { ...link, approvedAt: nowMs });
    const { phrase, expiresAt } = addPhrase(writer, link, nowMs);
    const facts = { email: link.email, accountId: account?.id ?? null, approvalId: link.id };
    recordAudit(writer, nowMs, { ...facts, kind: 'approved', client: input.client, detail: link.method });
    return { status: 'approved', email: link.email, phrase, expiresAt };
  });
  const { client } = input;
  if (outcome.status === 'approved') {
    deps.log.info({ email: outcome.email, client }, 'a human approved access');
  } else {
    deps.log.info({ client, reason: outcome.status }, 'an approval was not possible');
  }
  return outcome;
}

/** `postern approve`: the operator does the human's part, for any email address or the id of an account. */
export async function approveAtConsole(
  deps: { readonly store: Store; readonly clock: Clock },
  emailOrId: string,
): Promise<{ readonly phrase: string; readonly expires_at: string }> {
  return deps.store.write(writer => {
    const named = resultOf(() => findAccount(writer, emailOrId));
    if (!named.ok) checkNoInboxHas(writer, emailOrId);
    const found = eligible(writer, NO_POLICY, named.ok ? named.value.email : emailOrId, 'console');
    if (found === null) {
      throw refuse(
        'invalid_request',
        `${JSON.stringify(emailOrId)} is neither an email address like name@example.org nor the id of an account.`,
      );
    }
    const nowMs = deps.clock();
    const id = newId<ApprovalId>(nowMs);
    const { email, account } = found;
    const { phrase, expiresAt } = addPhrase(writer, { id, email, method: 'console' }, nowMs);
    recordAudit(writer, nowMs, {
      kind: 'approved',
      email,
      accountId: account?.id ?? null,
      approvalId: id,
      detail: 'console',
    });
    return { phrase, expires_at: toInstant(expiresAt) };
  });
}

/** At the console the operator decides alone. */
const NO_POLICY: SignupPolicy = {
  policy: 'closed',
  domains: [],
  proof: 'mail',
  mailDomains: [],
  takesOwnDomains: false,
};

function addPhrase(
  writer: Writer,
  approval: Pick<ClaimPhrase, 'id' | 'email' | 'method'>,
  nowMs: number,
): { phrase: string; expiresAt: number } {
  const phrase = newClaimPhrase();
  const expiresAt = nowMs + PHRASE_LIFETIME_MS;
  const { id, email, method } = approval;
  putNewPhrase(writer, hashClaimPhrase(phrase), { id, email, method, createdAt: nowMs, expiresAt });
  return { phrase, expiresAt };
}

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

function findApproval(reader: Reader, policy: SignupPolicy, token: string, nowMs: number): ApprovalState {
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
