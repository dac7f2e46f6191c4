import type { CreatedInbox, CreateInbox } from '../../contract/inboxes.js';
import { isReservedLocalPart, normaliseLocalPart } from '../../domain/addresses.js';
import { notFound, Refusal, refuse } from '../../domain/errors.js';
import { checkIdempotencyKey, intentDigest } from '../../domain/idempotency.js';
import { type AccountId, type InboxId, newId } from '../../domain/ids.js';
import { DAY_MS } from '../../domain/instants.js';
import { normaliseName } from '../../domain/text.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { type AccountRecord, getAccount, isAccountAddress } from '../../store/records/accounts.js';
import { noteEvent } from '../../store/records/events.js';
import {
  findAddress,
  getInbox,
  type InboxRecord,
  noteCreation,
  putNewInbox,
  recentCreations,
} from '../../store/records/inboxes.js';
import { type DefaultLimits, inboxAllowance } from '../accounts/accounts.js';
import type { Clock } from '../ports.js';
import { once, retryKey } from '../shared/once.js';
import { viewInbox } from './inboxes.js';

export interface CreateInboxDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: DefaultLimits;
  /** Mail domains, lower case; the first is the default. */
  readonly domains: readonly string[];
  readonly reservedLocalParts: readonly string[];
  /** Told to whoever has used up the allowance. */
  readonly increaseRequest: string;
  readonly policyUrl: string;
  /** Inboxes that an account may create in a day, deleted ones included; absent for an admin, who is not bound. */
  readonly perDay?: number;
}

/** Addresses are retired for ever: agents must not use them up. */
export const INBOXES_PER_DAY = 20;

/** The normalised input: what a retry under the same idempotency key must match. */
interface Intent {
  readonly localPart: string;
  readonly domain: string;
  readonly name: string | null;
  readonly senderName: string | null;
  readonly idempotencyKey: string | null;
}

/**
 * Creates an inbox (`createInbox`). Check and allocation are one unit of work, so matching requests under one
 * idempotency key, concurrent ones included, get one inbox and use one slot. A refused request leaves the key unused.
 */
export async function createInbox(
  deps: CreateInboxDeps,
  input: CreateInbox & { readonly accountId: AccountId },
): Promise<CreatedInbox> {
  const intent = normalise(deps, input);
  const { localPart, domain, name, senderName } = intent;
  const retry = retryKey(input.accountId, 'inbox', intent.idempotencyKey, () =>
    intentDigest([localPart, domain, name, senderName]),
  );
  return deps.store.write(writer => {
    const account = getAccount(writer, input.accountId);
    if (account === undefined) throw notFound('account');
    return once(writer, retry, deps.clock, {
      what: 'inbox',
      find: id => {
        const inbox = getInbox(writer, id as InboxId);
        return inbox === undefined ? null : viewInbox(inbox);
      },
      make: nowMs => {
        const inbox = allocate(writer, deps, account, intent, nowMs);
        return { id: inbox.id, view: viewInbox(inbox) };
      },
    });
  });
}

function normalise(deps: CreateInboxDeps, input: CreateInbox): Intent {
  const localPart = normaliseLocalPart(input.local_part);
  const name = normaliseName('name', input.name);
  const senderName = normaliseName('sender_name', input.sender_name);
  const domain = (input.domain ?? deps.domains[0] ?? '').trim().toLowerCase();
  if (!deps.domains.includes(domain)) {
    throw refuse('invalid_inbox', `domain must be one of: ${deps.domains.join(', ')}.`);
  }
  const key = checkIdempotencyKey(input.idempotency_key);
  return {
    localPart,
    domain,
    name,
    senderName,
    idempotencyKey: key,
  };
}

function allocate(
  writer: Writer,
  deps: CreateInboxDeps,
  account: AccountRecord,
  intent: Intent,
  nowMs: number,
): InboxRecord {
  const address = `${intent.localPart}@${intent.domain}`;
  if (
    isReservedLocalPart(intent.localPart, deps.reservedLocalParts) ||
    findAddress(writer, address) !== undefined ||
    // Its agents would read what is meant for the human of that account.
    isAccountAddress(writer, address)
  ) {
    throw refuse(
      'address_unavailable',
      `${address} is in use, reserved or retired. Choose another local_part.`,
    );
  }
  const allowance = inboxAllowance(writer, account, deps.limits);
  if (allowance.remaining === 0) {
    throw refuse('inbox_limit_reached', `All ${allowance.allowance} inbox slots of this account are used.`, {
      allowance,
      increase_request: deps.increaseRequest,
      policy_url: deps.policyUrl,
    });
  }
  checkPace(writer, deps, account.id, nowMs);
  const inbox: InboxRecord = {
    id: newId<InboxId>(nowMs),
    accountId: account.id,
    localPart: intent.localPart,
    domain: intent.domain,
    name: intent.name,
    senderName: intent.senderName,
    createdAt: nowMs,
  };
  putNewInbox(writer, inbox);
  noteEvent(writer, { type: 'inbox.created', inboxId: inbox.id }, nowMs);
  if (deps.perDay !== undefined) noteCreation(writer, inbox, nowMs - DAY_MS);
  return inbox;
}

/** @throws `rate_limited` when the account has created as many inboxes in the last 24 hours as it may */
function checkPace(writer: Writer, { perDay }: CreateInboxDeps, accountId: AccountId, nowMs: number): void {
  if (perDay === undefined) return;
  const recent = recentCreations(writer, accountId, {
    sinceMs: nowMs - DAY_MS + 1,
    nowMs,
    limit: perDay,
  });
  const [oldest] = recent;
  if (recent.length < perDay || oldest === undefined) return;
  throw new Refusal({
    code: 'rate_limited',
    message: `An account may create ${perDay} inboxes in 24 hours, because their addresses are never used again. Nothing was created and the key is unused; try again after Retry-After, or ask the operator.`,
    retryAfterS: Math.max(1, Math.ceil((oldest + DAY_MS - nowMs) / 1000)),
  });
}
