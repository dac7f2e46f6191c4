import { type AccountId, type ApprovalId, type AuditId, type KeyId, newId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import { type Writer, walkTable } from '../../store/engine/tables.js';
import { getAccount } from '../../store/records/accounts.js';
import {
  type AuditEvent,
  type AuditKind,
  putAudit,
  scanAudit,
  signupAnswersTable,
} from '../../store/records/approvals.js';
import { type PageInput, page, plainCursors } from '../shared/pages.js';

/** What of an event is known; the rest is null. */
export interface AuditFacts {
  readonly kind: AuditKind;
  readonly email?: string | null;
  readonly accountId?: AccountId | null;
  readonly keyId?: KeyId | null;
  readonly approvalId?: ApprovalId | null;
  readonly client?: string | null;
  readonly detail?: string | null;
}

/** Adds an event to the trail, in the unit of work that makes it true. */
export function recordAudit(writer: Writer, nowMs: number, facts: AuditFacts): void {
  putAudit(writer, {
    email: null,
    accountId: null,
    keyId: null,
    approvalId: null,
    client: null,
    detail: null,
    ...facts,
    id: newId<AuditId>(nowMs),
    at: nowMs,
  });
}

/** An event as the command line shows it. */
export interface AuditView {
  readonly at: string;
  readonly event: AuditKind;
  readonly email: string | null;
  readonly account_id: string | null;
  readonly key_id: string | null;
  readonly approval_id: string | null;
  readonly client: string | null;
  readonly detail: string | null;
}

export interface AuditPage {
  readonly events: readonly AuditView[];
  /** Give it back for what is older; null when there is nothing. */
  readonly next_cursor: string | null;
}

/** The trail, newest first. */
export function listAudit(deps: { readonly store: Store }, input: PageInput): AuditPage {
  const { items, next_cursor } = page(
    plainCursors<AuditId>(),
    input,
    (before, limit) => deps.store.read(reader => scanAudit(reader, before, limit)),
    ({ id }) => id,
  );
  return { events: items.map(view), next_cursor };
}

function view(event: AuditEvent): AuditView {
  return {
    at: toInstant(event.at),
    event: event.kind,
    email: event.email,
    account_id: event.accountId,
    key_id: event.keyId,
    approval_id: event.approvalId,
    client: event.client,
    detail: event.detail,
  };
}

/** What the first claimer of an account said, as the command line shows it. */
export interface SignupAnswersView {
  readonly account_id: string;
  readonly email: string | null;
  readonly answered_at: string;
  readonly discovery_source: string | null;
  readonly intended_use: string | null;
}

/** Every answer, by the age of its account; an appliance has few. */
export function listSignupAnswers({ store }: { readonly store: Store }): SignupAnswersView[] {
  return store.read(reader =>
    [...walkTable(reader, signupAnswersTable)].map(({ value }) => ({
      account_id: value.accountId,
      email: getAccount(reader, value.accountId)?.email ?? null,
      answered_at: toInstant(value.answeredAt),
      discovery_source: value.discoverySource,
      intended_use: value.intendedUse,
    })),
  );
}
