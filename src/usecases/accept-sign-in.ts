import { type ApprovalId, newId } from '../domain/ids.js';
import { hashLinkToken, newLinkToken } from '../domain/link-token.js';
import { putNewLink } from '../store/approvals.js';
import type { Store } from '../store/store.js';
import { PRESS_WINDOW_MS } from './approval-times.js';
import { recordAudit } from './audit.js';
import type { Clock, Logger, RateLimiter } from './ports.js';
import { RATE_LIMITS } from './rate-limits.js';
import { eligible, type SignupPolicy } from './signup-policy.js';

export interface AcceptSignInDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy: SignupPolicy;
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

export interface AcceptSignInInput {
  /** As the provider vouches for it. */
  readonly email: string;
  readonly authenticatedAt: number;
  readonly client: string;
}

export type AcceptedSignIn =
  /** For the browser that signed in, and no other: with it Approve can be pressed. */
  { readonly status: 'accepted'; readonly token: string } | { readonly status: 'not_eligible' };

/**
 * A human signed in with the provider: what a mailed link does for others, a token in their browser does for them.
 * It is good for 15 minutes from the sign-in; then they sign in again.
 */
export async function acceptSignIn(
  deps: AcceptSignInDeps,
  input: AcceptSignInInput,
): Promise<AcceptedSignIn> {
  const { email, client } = input;
  const token = newLinkToken();
  const isAccepted = await deps.store.write(writer => {
    const found = eligible(writer, deps.policy, email, 'sign_in');
    if (found === null) return false;
    const nowMs = deps.clock();
    const id = newId<ApprovalId>(nowMs);
    putNewLink(writer, hashLinkToken(token), {
      id,
      email: found.email,
      method: 'sign_in',
      createdAt: nowMs,
      expiresAt: input.authenticatedAt + PRESS_WINDOW_MS,
      approvedAt: null,
    });
    const accountId = found.account?.id ?? null;
    recordAudit(writer, nowMs, { kind: 'signed_in', email: found.email, accountId, approvalId: id, client });
    return true;
  });
  if (isAccepted) {
    deps.log.info({ email, client }, 'a human signed in to approve');
    return { status: 'accepted', token };
  }
  deps.log.info({ email, client }, 'a human signed in and may not approve');
  if ((await deps.limiter.take(RATE_LIMITS.refusals, 'all')).isAllowed) {
    await deps.store.write(writer =>
      recordAudit(writer, deps.clock(), { kind: 'not_eligible', email, client, detail: 'signed in' }),
    );
  }
  return { status: 'not_eligible' };
}
