import { type DeliveryId, newId } from '../../domain/ids.js';
import { envelopeByDomain } from '../../domain/message-parts.js';
import type { Writer } from '../../store/engine/tables.js';
import type { SentRecord } from '../../store/mailbox/messages.js';
import { type BlobRef, setBlobOwners } from '../../store/records/blobs.js';
import { type DeliveryRecord, type RecipientDelivery, saveDelivery } from '../../store/records/deliveries.js';

/**
 * Writes the deliveries of a message, one for each domain of its envelope, all due now, in the unit of work that
 * reserves the send.
 * @param content the message as it is transmitted; the deliveries own it together
 */
export function makeDeliveries(
  writer: Writer,
  sent: SentRecord,
  content: BlobRef,
  nowMs: number,
): readonly DeliveryRecord[] {
  const byDomain = envelopeByDomain(sent);
  setBlobOwners(writer, content.id, byDomain.size);
  return [...byDomain].map(([domain, addresses]) => {
    const delivery: DeliveryRecord = {
      id: newId<DeliveryId>(nowMs),
      sentId: sent.id,
      inboxId: sent.inboxId,
      accountId: sent.accountId,
      domain,
      from: sent.from.address,
      content,
      recipients: addresses.map(address => queued(address, nowMs)),
      createdAt: nowMs,
      attempts: 0,
      nextAt: nowMs,
      dueAt: nowMs,
      toldDelay: false,
    };
    saveDelivery(writer, null, delivery, nowMs);
    return delivery;
  });
}

function queued(address: string, nowMs: number): RecipientDelivery {
  return {
    address,
    state: 'queued',
    attempts: 0,
    at: nowMs,
    host: null,
    tls: null,
    code: null,
    reply: null,
    isTold: false,
  };
}
