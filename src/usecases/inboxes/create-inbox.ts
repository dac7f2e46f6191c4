import { isReservedLocalPart, normaliseLocalPart } from '../../domain/addresses.js';
import { fail, notFound, ok, type Result } from '../../domain/errors.js';
import { checkIdempotencyKey, intentDigest, KEY_LIFETIME_MS } from '../../domain/idempotency.js';
import { type AccountId, type InboxId, newId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { normaliseName } from '../../domain/text.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { type AccountRecord, getAccount } from '../../store/records/accounts.js';
import { findAddress, getInbox, type InboxRecord, putNewInbox } from '../../store/records/inboxes.js';
import { addPending, findActiveKey, type IdempotencyKey, putKey } from '../../store/records/pending.js';
import { type DefaultLimits, inboxAllowance } from '../accounts/accounts.js';
import type { Clock } from '../ports.js';
import { type InboxView, viewInbox } from './inboxes.js';

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
}

export interface CreateInboxInput {
  readonly accountId: AccountId;
  readonly localPart: string;
  readonly domain?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly senderName?: string | null | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** `replayed` and `idempotency_expires_at` are there exactly when the request had a key. */
export type CreatedInbox = InboxView & {
  readonly replayed?: boolean;
  readonly idempotency_expires_at?: string;
};

/** The input after the equivalences of wire contract 3.2: what a retry must match. */
interface Intent {
  readonly localPart: string;
  readonly domain: string;
  readonly name: string | null;
  readonly senderName: string | null;
  readonly idempotencyKey: string | null;
}

/**
 * Allocates an inbox (wire contract 3.2). With a key, matching requests, concurrent ones included, come
 * to one inbox and one slot: check and allocation are one unit of work. A refused request leaves the key
 * unused.
 */
export async function createInbox(
  deps: CreateInboxDeps,
  input: CreateInboxInput,
): Promise<Result<CreatedInbox>> {
  const intent = normalise(deps, input);
  if (!intent.ok) return intent;
  return deps.store.write(writer => allocateOrReplay(writer, deps, input.accountId, intent.value));
}

function normalise(deps: CreateInboxDeps, input: CreateInboxInput): Result<Intent> {
  const localPart = normaliseLocalPart(input.localPart);
  if (!localPart.ok) return localPart;
  const name = normaliseName('name', input.name);
  if (!name.ok) return name;
  const senderName = normaliseName('sender_name', input.senderName);
  if (!senderName.ok) return senderName;
  const domain = (input.domain ?? deps.domains[0] ?? '').trim().toLowerCase();
  if (!deps.domains.includes(domain)) {
    return fail('invalid_inbox', `domain must be one of: ${deps.domains.join(', ')}.`);
  }
  const key = input.idempotencyKey === undefined ? ok(null) : checkIdempotencyKey(input.idempotencyKey);
  if (!key.ok) return key;
  return ok({
    localPart: localPart.value,
    domain,
    name: name.value,
    senderName: senderName.value,
    idempotencyKey: key.value,
  });
}

function allocateOrReplay(
  writer: Writer,
  deps: CreateInboxDeps,
  accountId: AccountId,
  intent: Intent,
): Result<CreatedInbox> {
  const account = getAccount(writer, accountId);
  if (account === undefined) return notFound('account');
  const nowMs = deps.clock();
  if (intent.idempotencyKey === null) {
    const inbox = allocate(writer, deps, account, intent, nowMs);
    return inbox.ok ? ok(viewInbox(inbox.value)) : inbox;
  }
  const key: IdempotencyKey = { accountId, namespace: 'inbox', key: intent.idempotencyKey };
  const digest = intentDigest([intent.localPart, intent.domain, intent.name, intent.senderName]);
  const used = findActiveKey(writer, key, nowMs);
  if (used !== undefined) return replay(writer, used, digest);
  const inbox = allocate(writer, deps, account, intent, nowMs);
  if (!inbox.ok) return inbox;
  const expiresAt = nowMs + KEY_LIFETIME_MS;
  putKey(writer, key, { intent: digest, resultId: inbox.value.id, expiresAt });
  addPending(writer, expiresAt, { kind: 'expire-key', id: inbox.value.id, key });
  return ok({ ...viewInbox(inbox.value), replayed: false, idempotency_expires_at: toInstant(expiresAt) });
}

function replay(
  writer: Writer,
  used: { intent: string; resultId: string; expiresAt: number },
  digest: string,
): Result<CreatedInbox> {
  if (used.intent !== digest) {
    return fail(
      'idempotency_conflict',
      'This key was first used with different input. Use a new key for a new inbox.',
    );
  }
  const inbox = getInbox(writer, used.resultId as InboxId);
  if (inbox === undefined) {
    return fail('idempotency_result_unavailable', 'The inbox that this key created has been deleted since.');
  }
  return ok({ ...viewInbox(inbox), replayed: true, idempotency_expires_at: toInstant(used.expiresAt) });
}

function allocate(
  writer: Writer,
  deps: CreateInboxDeps,
  account: AccountRecord,
  intent: Intent,
  nowMs: number,
): Result<InboxRecord> {
  const address = `${intent.localPart}@${intent.domain}`;
  if (
    isReservedLocalPart(intent.localPart, deps.reservedLocalParts) ||
    findAddress(writer, address) !== undefined
  ) {
    return fail(
      'address_unavailable',
      `${address} is in use, reserved or retired. Choose another local_part.`,
    );
  }
  const allowance = inboxAllowance(writer, account, deps.limits);
  if (allowance.remaining === 0) {
    return fail('inbox_limit_reached', `All ${allowance.allowance} inbox slots of this account are used.`, {
      allowance,
      increase_request: deps.increaseRequest,
      policy_url: deps.policyUrl,
    });
  }
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
  return ok(inbox);
}
