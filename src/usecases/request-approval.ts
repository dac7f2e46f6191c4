import { type ApprovalId, newId } from '../domain/ids.js';
import { hashLinkToken, newLinkToken } from '../domain/link-token.js';
import { putNewLink } from '../store/approvals.js';
import type { Writer } from '../store/reader-writer.js';
import type { Store } from '../store/store.js';
import { approvalMail, type ServiceNames } from './approval-mail.js';
import { LINK_LIFETIME_MS } from './approval-times.js';
import { recordAudit } from './audit.js';
import type { Clock, Logger, RateLimiter, SystemMail } from './ports.js';
import { RATE_LIMITS } from './rate-limits.js';
import { type Eligible, eligible, type SignupPolicy } from './signup-policy.js';

export interface RequestApprovalDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy: SignupPolicy;
  readonly service: ServiceNames;
  readonly mail: SystemMail;
  readonly limiter: RateLimiter;
  readonly log: Logger;
}

export interface ApprovalRequest {
  /** As it was typed, trimmed; of the form of an address. */
  readonly email: string;
  /** Network address of whoever typed it. */
  readonly client: string;
}

interface NewLink extends Eligible {
  readonly id: ApprovalId;
  readonly token: string;
}

/**
 * Somebody typed an email address into the approval page: an eligible one gets a link by mail.
 *
 * The page must answer the same, and as fast, for every address. So nothing of this happens before the answer: the
 * page does the same few steps for all, hands the request to a queue in memory (`workers/background-jobs.ts`) and
 * answers; eligibility is looked up, the link written and the mail handed over when the answer is on its way. A
 * request that is lost with the process is asked for again by the human who waits for the mail.
 */
export async function requestApproval(
  deps: RequestApprovalDeps,
  request: ApprovalRequest,
): Promise<'mailed' | 'mail_failed' | 'not_eligible'> {
  const { store, log } = deps;
  const { client } = request;
  const link = await makeLink(deps, request);
  if (link === null) {
    await noteRefusal(deps, request);
    log.info({ email: request.email, client }, 'an approval link was asked for and is not given');
    return 'not_eligible';
  }
  const facts = { email: link.email, accountId: link.account?.id ?? null, approvalId: link.id };
  const url = `${deps.service.publicUrl}/approve/link/${link.token}`;
  const mail = approvalMail(deps.service, { url, client, requestedAt: deps.clock() });
  try {
    await deps.mail.send({ to: link.email, ...mail });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    await store.write(writer => recordAudit(writer, deps.clock(), { ...facts, kind: 'mail_failed', detail }));
    log.error(
      { email: link.email, approval_id: link.id, reason: detail },
      'a mail with an approval link was not taken; the human has to ask again',
    );
    return 'mail_failed';
  }
  await store.write(writer => recordAudit(writer, deps.clock(), { ...facts, kind: 'mailed' }));
  log.info({ email: link.email, approval_id: link.id, client }, 'an approval link was mailed');
  return 'mailed';
}

/** Eligibility and link are one unit of work; null when the address is not eligible, and nothing is written. */
async function makeLink(
  { store, clock, policy }: RequestApprovalDeps,
  request: ApprovalRequest,
): Promise<NewLink | null> {
  const isEligible = store.read(reader => eligible(reader, policy, request.email, 'mail')) !== null;
  if (!isEligible) return null;
  return store.write(writer => {
    const found = eligible(writer, policy, request.email, 'mail');
    return found === null ? null : addLink(writer, found, request.client, clock());
  });
}

function addLink(writer: Writer, found: Eligible, client: string, nowMs: number): NewLink {
  const { email, account } = found;
  const id = newId<ApprovalId>(nowMs);
  const token = newLinkToken();
  const expiresAt = nowMs + LINK_LIFETIME_MS;
  putNewLink(writer, hashLinkToken(token), {
    id,
    email,
    method: 'mail',
    createdAt: nowMs,
    expiresAt,
    approvedAt: null,
  });
  recordAudit(writer, nowMs, {
    kind: 'requested',
    email,
    accountId: account?.id ?? null,
    approvalId: id,
    client,
  });
  return { email, account, id, token };
}

async function noteRefusal(deps: RequestApprovalDeps, { email, client }: ApprovalRequest): Promise<void> {
  const { isAllowed } = await deps.limiter.take(RATE_LIMITS.refusals, 'all');
  if (!isAllowed) return;
  await deps.store.write(writer =>
    recordAudit(writer, deps.clock(), { kind: 'not_eligible', email, client, detail: 'link asked for' }),
  );
}
