import type { Delivery } from '../../contract/deliveries.js';
import { domainOf, toSuppressedAddress } from '../../domain/addresses.js';
import { type DeliveryId, newId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { envelopeByDomain, envelopeRecipients } from '../../domain/message-parts.js';
import type { SentRecord } from '../../store/mailbox/messages.js';
import type { DeliveryRecord, RecipientState } from '../../store/records/deliveries.js';
import { viewDelivery } from './view-delivery.js';

/*
 * Messages that a relay takes (a smarthost, or the inboxes of this service in process) have one outcome for all their
 * recipients, which stands in the sent copy. A delivery is written only of those of whom a report has come.
 */

/** Is nothing of the message delivered from here? A relay takes it, or it was refused before anybody was asked. */
export function isRelayed(deliveries: readonly DeliveryRecord[]): boolean {
  return deliveries.every(({ content }) => content === null);
}

/** By domain: what was reported of a recipient; of the others what follows from the outcome of the message. */
export function relayedDeliveries(sent: SentRecord, written: readonly DeliveryRecord[]): Delivery[] {
  const reported = new Map(written.flatMap(viewDelivery).map(one => [one.recipient, one]));
  const outcome = outcomeOf(sent);
  return [...envelopeByDomain(sent).values()]
    .flat()
    .map(recipient => reported.get(recipient) ?? { recipient, ...outcome });
}

/**
 * The delivery to a recipient as it was before the first report: every spelling of the address that the envelope has.
 * Null where nothing can be true of a report: nobody of the envelope is meant, or the relay has not been asked yet.
 */
export function reportedDelivery(sent: SentRecord, address: string, nowMs: number): DeliveryRecord | null {
  const meant = toSuppressedAddress(address);
  const addresses = envelopeRecipients(sent).filter(one => toSuppressedAddress(one) === meant);
  const { state, attempts, code, reply } = outcomeOf(sent);
  if (addresses.length === 0 || state === 'queued') return null;
  return {
    id: newId<DeliveryId>(nowMs),
    sentId: sent.id,
    inboxId: sent.inboxId,
    accountId: sent.accountId,
    domain: domainOf(address),
    from: sent.from.address,
    content: null,
    recipients: addresses.map(one => ({
      address: one,
      state,
      attempts,
      at: nowMs,
      host: null,
      tls: null,
      code,
      reply,
      isTold: true,
    })),
    createdAt: nowMs,
    attempts,
    nextAt: null,
    dueAt: null,
    toldDelay: false,
  };
}

function outcomeOf(sent: SentRecord): Omit<Delivery, 'recipient'> {
  const state = stateOf(sent);
  const isUntried = state === 'queued' || sent.errorCode === 'E_RECIPIENT_SUPPRESSED';
  return {
    state,
    attempts: isUntried ? 0 : 1,
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
