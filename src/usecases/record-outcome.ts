import { releaseCharge } from '../store/charges.js';
import { removePending } from '../store/pending.js';
import type { Writer } from '../store/reader-writer.js';
import { getSent, type SentRecord, saveSent } from '../store/sent.js';
import type { RelayOutcome } from './ports.js';
import { encodeSentSummary } from './sent-view.js';

/** What an attempt comes to: what the relay said, or that it was never asked. */
export type SendOutcome =
  | RelayOutcome
  | {
      readonly status: 'rejected';
      readonly errorCode: 'E_RECIPIENT_SUPPRESSED';
      readonly detail: string;
    };

/**
 * Saves how an attempt ended, once; a rejected one gives its charge back (specification, Sent message `status`),
 * also when its copy has been deleted meanwhile.
 * @returns the message as saved, or null when it has been deleted
 */
export function recordOutcome(
  writer: Writer,
  { id, accountId, reservedAt }: Pick<SentRecord, 'id' | 'accountId' | 'reservedAt'>,
  outcome: SendOutcome,
): SentRecord | null {
  const record = getSent(writer, id);
  if (record?.attempt === 'settled') return record;
  if (outcome.status === 'rejected') releaseCharge(writer, { accountId, at: reservedAt, id });
  if (record === undefined) return null;
  if (record.relayDueAt !== null) {
    removePending(writer, { kind: 'relay', dueAt: record.relayDueAt, id });
  }
  const settled: SentRecord = {
    ...record,
    ...outcomeFields(outcome),
    attempt: 'settled',
    relayDueAt: null,
    detail: outcome.detail,
  };
  saveSent(writer, record, settled, encodeSentSummary(settled));
  return settled;
}

/** What agents see of an outcome. */
export function outcomeFields(outcome: SendOutcome): Pick<SentRecord, 'status' | 'errorCode'> {
  return { status: outcome.status, errorCode: outcome.status === 'accepted' ? null : outcome.errorCode };
}
