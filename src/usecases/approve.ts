import { hashClaimPhrase, newClaimPhrase } from '../domain/claim-phrase.js';
import { fail, ok, type Result } from '../domain/errors.js';
import { type ApprovalId, newId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import { hashLinkToken } from '../domain/link-token.js';
import { type ClaimPhrase, putLink, putNewPhrase } from '../store/approvals.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { PHRASE_LIFETIME_MS, PRESS_WINDOW_MS } from './approval-times.js';
import { recordAudit } from './audit.js';
import { findAccount } from './find-account.js';
import { type ApprovalState, findApproval } from './find-approval.js';
import type { Clock, Logger } from './ports.js';
import { eligible, type SignupPolicy } from './signup-policy.js';

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
): Promise<Result<{ readonly phrase: string; readonly expires_at: string }>> {
  return deps.store.write(writer => {
    const named = findAccount(writer, emailOrId);
    const found = eligible(writer, NO_POLICY, named.ok ? named.value.email : emailOrId, 'console');
    if (found === null) {
      return fail(
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
    return ok({ phrase, expires_at: toInstant(expiresAt) });
  });
}

/** The console asks nobody. */
const NO_POLICY: SignupPolicy = { policy: 'closed', domains: [], proof: 'mail' };

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
