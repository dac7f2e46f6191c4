import { KEY_LIFETIME_MS } from '../../domain/idempotency.js';
import type { MessageId, ThreadId } from '../../domain/ids.js';
import { addressesOf } from '../../domain/message-parts.js';
import { isHeldAfterRestore } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { getSent, type SentRecord, saveAttempt, saveMessage } from '../../store/mailbox/messages.js';
import { releaseCharge } from '../../store/records/charges.js';
import { noteEvent } from '../../store/records/events.js';
import { getInbox } from '../../store/records/inboxes.js';
import { addPending, type DueWork, pendingPages, removePending } from '../../store/records/pending.js';
import { suppressedRecipients } from '../../store/records/suppressions.js';
import { joinThread } from '../../store/threads/move.js';
import { type Clock, lapseInstant, type RelayOutcome } from '../ports.js';
import { isPermitted } from '../shared/callers.js';

/** What became of an attempt that was to start. */
export type Start =
  /** Marked as started: the caller hands it to the relay, and nothing else ever does. */
  | { readonly kind: 'started'; readonly record: SentRecord }
  /** Rejected: it is not handed to the relay. */
  | { readonly kind: 'refused'; readonly record: SentRecord }
  /** Nothing to do: the message was deleted, is held, or was started before. */
  | { readonly kind: 'left' };

const LEFT: Start = { kind: 'left' };

/**
 * Marks a reserved attempt as started, unless something has come between. It may have waited for hours (Redis was away,
 * the process ended), so what stops mail is asked once more: the inbox is there, the account may send, no recipient is
 * suppressed. The sending rules of the inbox are not: those in force at the reservation decide.
 */
export function startAttempt(writer: Writer, id: MessageId, clock: Clock): Start {
  const record = getSent(writer, id);
  if (record?.attempt !== 'reserved') return LEFT;
  // An admin has let it go, but not yet the service as a whole.
  if (isHeldAfterRestore(writer)) return LEFT;
  // The sweeper is about to erase it.
  if (getInbox(writer, record.inboxId) === undefined) return LEFT;
  if (mustBeHeld(record, lapseInstant(clock))) {
    holdAttempt(writer, record);
    return LEFT;
  }
  const refusal = refusalOf(writer, record);
  if (refusal !== null) {
    const refused = recordOutcome(writer, record, refusal, clock());
    return refused === null ? LEFT : { kind: 'refused', record: refused };
  }
  const started: SentRecord = { ...record, attempt: 'started' };
  saveAttempt(writer, started);
  return { kind: 'started', record: started };
}

function refusalOf(reader: Reader, record: SentRecord): SendOutcome | null {
  if (!isPermitted(reader, record, 'send')) {
    return {
      status: 'rejected',
      errorCode: 'E_SENDER_REJECTED',
      detail: 'sending was switched off for the account before the message was handed over',
    };
  }
  const suppressed = suppressedRecipients(reader, record.accountId, addressesOf(record));
  return suppressed.length === 0
    ? null
    : {
        status: 'rejected',
        errorCode: 'E_RECIPIENT_SUPPRESSED',
        detail: `suppressed before the message was handed over: ${suppressed.length} of the recipients`,
      };
}

/**
 * Must a reserved attempt wait for an admin? One that has not started for a day must: its key protects it no
 * longer, and whoever sent it may have sent it again. So must one that was put into Trash meanwhile.
 */
function mustBeHeld({ relayDueAt, trash }: SentRecord, lapseMs: number): boolean {
  return trash !== null || (relayDueAt !== null && lapseMs - relayDueAt >= KEY_LIFETIME_MS);
}

/** Keeps a reserved attempt from starting by itself (`queue-admin.ts` lets it go). */
function holdAttempt(writer: Writer, record: SentRecord): void {
  const { id, relayDueAt } = record;
  if (relayDueAt === null) throw new Error(`the reserved attempt ${id} is not due at any time`);
  removePending(writer, { kind: 'relay', dueAt: relayDueAt, id });
  addPending(writer, relayDueAt, { kind: 'relay-held', id });
  saveAttempt(writer, { ...record, attempt: 'held' });
}

/** The outcome of an attempt: what the relay reported, or that it was never asked. */
export type SendOutcome =
  | RelayOutcome
  | {
      readonly status: 'rejected';
      readonly errorCode: 'E_RECIPIENT_SUPPRESSED';
      readonly detail: string;
    };

/**
 * Saves how an attempt ended, once. A rejected attempt gives its charge back, because nobody got the message; so it
 * does when the sent copy has been deleted meanwhile.
 * @returns the message as saved, or null when it has been deleted
 */
export function recordOutcome(
  writer: Writer,
  { id, accountId, reservedAt }: Pick<SentRecord, 'id' | 'accountId' | 'reservedAt'>,
  outcome: SendOutcome,
  nowMs: number,
): SentRecord | null {
  const record = getSent(writer, id);
  if (record?.attempt === 'settled') return record;
  if (outcome.status === 'rejected') releaseCharge(writer, { accountId, at: reservedAt, id });
  if (record === undefined) return null;
  if (record.relayDueAt !== null) {
    removePending(writer, { kind: 'relay', dueAt: record.relayDueAt, id });
  }
  const assignedId = outcome.status === 'accepted' ? (outcome.assignedId ?? null) : null;
  const settled: SentRecord = {
    ...record,
    ...outcomeFields(outcome),
    attempt: 'settled',
    relayDueAt: null,
    detail: outcome.detail,
    ...(assignedId === null ? {} : { assignedId, threadId: tie(writer, record, assignedId) }),
  };
  saveMessage(writer, record, settled);
  const { inboxId, threadId } = settled;
  noteEvent(writer, { type: 'send.outcome', inboxId, messageId: id, threadId }, nowMs);
  return settled;
}

/** Ties the id that a relay has given a message to its conversation: answers name that one. */
function tie(writer: Writer, { inboxId, threadId, createdAt }: SentRecord, assignedId: string): ThreadId {
  const ids = { messageId: assignedId, references: [], inReplyTo: [] };
  return joinThread(writer, inboxId, ids, createdAt, threadId);
}

/** What agents see of an outcome. */
export function outcomeFields(outcome: SendOutcome): Pick<SentRecord, 'status' | 'errorCode'> {
  return { status: outcome.status, errorCode: outcome.status === 'accepted' ? null : outcome.errorCode };
}

/** What became of attempts that another process left. */
interface LeftSends {
  /** They were being handed over: nobody knows whether they went out. */
  readonly unknown: number;
  /** The queue starts them. */
  readonly waiting: number;
  /** Until an admin says otherwise. */
  readonly held: number;
}

interface TakeUp {
  readonly store: Store;
  readonly clock: Clock;
  /** Said before "while the message was handed over". */
  readonly whatCameBetween: string;
  /** Of an attempt that was not started. */
  readonly isHeld: (record: SentRecord) => boolean;
}

/**
 * At boot, before anything is relayed: settles what an earlier process left. An attempt that was started may have
 * gone out: it is `unknown` for good. One that was not is started by the queue if it is young enough; else it is
 * held until an admin says otherwise.
 */
export function recoverSends(deps: { readonly store: Store; readonly clock: Clock }): Promise<LeftSends> {
  return takeUpSends({
    ...deps,
    whatCameBetween: 'the process ended',
    isHeld: record => mustBeHeld(record, lapseInstant(deps.clock)),
  });
}

/** The same in a store that was made from a backup: an attempt that waited then may have gone out since, and is held. */
export function holdSendsAfterRestore(deps: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<LeftSends> {
  return takeUpSends({
    ...deps,
    whatCameBetween: 'the service was restored from a backup that was made',
    isHeld: () => true,
  });
}

async function takeUpSends(how: TakeUp): Promise<LeftSends> {
  const counts = { unknown: 0, waiting: 0, held: 0 };
  for (const page of pendingPages(how.store, 'relay')) {
    const states = await how.store.write(writer => page.map(due => takeUp(writer, due, how)), 'settle');
    for (const state of states) if (state !== 'gone') counts[state] += 1;
  }
  return counts;
}

function takeUp(
  writer: Writer,
  { work: { id }, dueAt }: DueWork<'relay'>,
  { clock, whatCameBetween, isHeld }: TakeUp,
): keyof LeftSends | 'gone' {
  const record = getSent(writer, id);
  if (record?.attempt === 'started') {
    const detail = `${whatCameBetween} while the message was handed over`;
    recordOutcome(writer, record, { status: 'unknown', errorCode: 'acceptance_unknown', detail }, clock());
    return 'unknown';
  }
  // A stale pending entry must not start an attempt that already has its outcome.
  if (record?.attempt !== 'reserved') {
    removePending(writer, { kind: 'relay', dueAt, id });
    return 'gone';
  }
  if (!isHeld(record)) return 'waiting';
  holdAttempt(writer, record);
  return 'held';
}
