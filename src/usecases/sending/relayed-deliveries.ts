import type { Delivery } from '../../contract/deliveries.js';
import { domainOf } from '../../domain/addresses.js';
import { type DeliveryId, newId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { envelopeRecipients } from '../../domain/message-parts.js';
import type { SentRecord } from '../../store/mailbox/messages.js';
import type { DeliveryRecord, RecipientState } from '../../store/records/deliveries.js';

/*
 * Messages that a relay takes (a smarthost, or the inboxes of this service in process) have one outcome for all their
 * recipients, which stands in the sent copy. A delivery is written only of those of whom a report has come.
 */

/** Did a relay take the message? Then nothing is transmitted from its deliveries. */
export function isRelayed(deliveries: readonly DeliveryRecord[]): boolean {
  return deliveries.every(({ content }) => content === null);
}

/** What follows for the recipients of whom nothing is written, from the outcome of the message. */
export function relayedDeliveries(sent: SentRecord, written: readonly DeliveryRecord[]): Delivery[] {
  if (!isRelayed(written)) return [];
  const known = new Set(written.flatMap(({ recipients }) => recipients.map(({ address }) => address)));
  return envelopeRecipients(sent)
    .filter(address => !known.has(address))
    .map(recipient => ({ recipient, ...outcomeOf(sent) }));
}

/** A delivery of which only a report is known, as it was before that. */
export function reportedDelivery(sent: SentRecord, address: string, nowMs: number): DeliveryRecord {
  const { state, attempts, code, reply } = outcomeOf(sent);
  return {
    id: newId<DeliveryId>(nowMs),
    sentId: sent.id,
    inboxId: sent.inboxId,
    accountId: sent.accountId,
    domain: domainOf(address),
    from: sent.from.address,
    content: null,
    recipients: [{ address, state, attempts, at: nowMs, host: null, tls: null, code, reply, isTold: true }],
    createdAt: nowMs,
    attempts,
    nextAt: null,
    dueAt: null,
    toldDelay: false,
  };
}

function outcomeOf(sent: SentRecord): Omit<Delivery, 'recipient'> {
  const state = stateOf(sent);
  return {
    state,
    attempts: state === 'queued' ? 0 : 1,
    updated_at: toInstant(sent.reservedAt),
    next_attempt_at: null,
    host: null,
    tls: null,
    code: null,
    reply: sent.errorCode,
  };
}

function stateOf({ attempt, status }: SentRecord): RecipientState {
  if (attempt !== 'settled') return attempt === 'started' ? 'sending' : 'queued';
  return status === 'accepted' ? 'delivered' : status === 'rejected' ? 'failed' : 'unknown';
}
