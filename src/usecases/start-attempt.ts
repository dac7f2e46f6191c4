import { KEY_LIFETIME_MS } from '../domain/idempotency.js';
import type { MessageId } from '../domain/ids.js';
import { addressesOf } from '../domain/normalise-recipients.js';
import { getInbox } from '../store/inboxes.js';
import { addPending, removePending } from '../store/pending.js';
import type { Reader, Writer } from '../store/reader-writer.js';
import { getSent, type SentRecord, saveAttempt } from '../store/sent.js';
import { suppressedRecipients } from '../store/suppressions.js';
import { isPermitted } from './permissions.js';
import { recordOutcome, type SendOutcome } from './record-outcome.js';

/** What became of an attempt that was to start. */
export type Start =
  /** It bears the mark: whoever asked hands it over, and nobody else ever. */
  | { readonly kind: 'started'; readonly record: SentRecord }
  /** It is rejected and goes nowhere. */
  | { readonly kind: 'refused'; readonly record: SentRecord }
  /** There is nothing to do: it is gone, held, or has been started before. */
  | { readonly kind: 'left' };

const LEFT: Start = { kind: 'left' };

/**
 * Marks a reserved attempt as started, unless something has come between. It may have waited for hours (Redis was
 * away, the process ended), so what stops mail is asked once more: the inbox is there, the account may send, no
 * recipient is suppressed. The sending rules of the inbox are not: those of the reservation decide (wire
 * contract 3.4).
 */
export function startAttempt(writer: Writer, id: MessageId, nowMs: number): Start {
  const record = getSent(writer, id);
  if (record?.attempt !== 'reserved') return LEFT;
  // The sweeper is about to erase it.
  if (getInbox(writer, record.inboxId) === undefined) return LEFT;
  if (mustBeHeld(record, nowMs)) {
    holdAttempt(writer, record);
    return LEFT;
  }
  const refusal = refusalOf(writer, record);
  if (refusal !== null) {
    const refused = recordOutcome(writer, record, refusal);
    return refused === null ? LEFT : { kind: 'refused', record: refused };
  }
  const started: SentRecord = { ...record, attempt: 'started' };
  saveAttempt(writer, started);
  return { kind: 'started', record: started };
}

function refusalOf(reader: Reader, record: SentRecord): SendOutcome | null {
  if (!isPermitted(reader, record.accountId, 'send').ok) {
    return {
      status: 'rejected',
      errorCode: 'E_SENDER_REJECTED',
      detail: 'sending was switched off for the account before the message was handed over',
    };
  }
  const suppressed = suppressedRecipients(reader, addressesOf(record));
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
export function mustBeHeld({ relayDueAt, trash }: SentRecord, nowMs: number): boolean {
  return trash !== null || (relayDueAt !== null && nowMs - relayDueAt >= KEY_LIFETIME_MS);
}

/** Keeps a reserved attempt from starting by itself (`queue-admin.ts` lets it go). */
export function holdAttempt(writer: Writer, record: SentRecord): void {
  const { id, relayDueAt } = record;
  if (relayDueAt === null) throw new Error(`the reserved attempt ${id} is not due at any time`);
  removePending(writer, { kind: 'relay', dueAt: relayDueAt, id });
  addPending(writer, relayDueAt, { kind: 'relay-held', id });
  saveAttempt(writer, { ...record, attempt: 'held' });
}
