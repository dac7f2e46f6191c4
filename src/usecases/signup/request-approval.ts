import { mayReachDomains } from '../../domain/addresses.js';
import { type ApprovalId, newId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { hashLinkToken, newLinkToken } from '../../domain/secrets.js';
import { reasonOf } from '../../lib/async.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { putNewLink } from '../../store/records/approvals.js';
import { recordAudit } from '../accounts/audit.js';
import type { Clock, Logger, RateLimiter, SystemMail } from '../ports.js';
import {
  type Eligible,
  eligible,
  LINK_LIFETIME_MS,
  PRESS_WINDOW_MS,
  RATE_LIMITS,
  type SignupPolicy,
} from './policy.js';

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
 * The page must answer the same, and as fast, for every address. So nothing of this happens before the answer: the page
 * does the same few steps for all, hands the request to a queue in memory (`workers/background.ts`) and answers;
 * eligibility is looked up, the link written and the mail handed over when the answer is on its way. A request that is
 * lost with the process is asked for again by the human who waits for the mail.
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
    const detail = reasonOf(error);
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
  const isOwn = mayReachDomains(email, deps.policy.mailDomains);
  const detail = `link asked for${isOwn ? ' to an address whose mail comes here' : ''}`;
  await deps.store.write(writer =>
    recordAudit(writer, deps.clock(), { kind: 'not_eligible', email, client, detail }),
  );
}

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

/** How the service calls itself, and where it is reached. */
export interface ServiceNames {
  readonly name: string;
  /** Without a trailing slash; links are built on it and on nothing that a request says. */
  readonly publicUrl: string;
}

/**
 * The mail with the link to approve. Plain and short; nothing in it was typed by whoever asked, so that nobody can
 * send words of their own to a stranger in our name.
 */
function approvalMail(
  service: ServiceNames,
  facts: { readonly url: string; readonly client: string; readonly requestedAt: number },
): { readonly subject: string; readonly text: string } {
  const at = toInstant(facts.requestedAt).slice(0, 16).replace('T', ' ');
  return {
    subject: `Approve access for an AI agent at ${service.name}`,
    text: [
      `Somebody asked ${service.name} to let an AI agent use the account of`,
      'this email address.',
      '',
      'If it was you, open this link, read the page, and press Approve:',
      '',
      facts.url,
      '',
      'Opening the link grants nothing. Approving gives you six words to hand to',
      'one agent of your choice. With them it gets access to the whole account:',
      'it can read, send, label and delete mail in all of its inboxes.',
      '',
      'The link works for 12 hours, and for one approval. Do not forward it.',
      '',
      `Asked for on ${at} UTC from the network address ${facts.client}.`,
      'If it was not you, ignore this mail: nothing will happen.',
      '',
      '-- ',
      `${service.name}, ${service.publicUrl}`,
      '',
    ].join('\n'),
  };
}
