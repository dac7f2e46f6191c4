import { type DeliveryId, idFromBytes, type MessageId } from '../../domain/ids.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { getSent } from '../mailbox/messages.js';
import {
  type DeliveryRecord,
  deliveriesTable,
  hasEnded,
  sentDeliveriesTable,
} from '../records/deliveries.js';
import { pendingEntry } from './accounts-and-pending.js';
import type { Ledger } from './ledger.js';
import { blobEntry } from './sets-and-blobs.js';

const listed = (sentId: string, id: string): string => `delivery ${id} listed with sent message ${sentId}`;

/** Deliveries, each with its place under its message, its pending entry and, until it ends, its share of the content. */
export function verifyDeliveries(reader: Reader, ledger: Ledger): void {
  for (const { value } of walkTable(reader, deliveriesTable)) expectDelivery(reader, ledger, value);
  for (const { key } of walkTable(reader, sentDeliveriesTable)) {
    ledger.find(listed(idFromBytes<MessageId>(key), idFromBytes<DeliveryId>(key, 16)));
  }
}

function expectDelivery(reader: Reader, ledger: Ledger, delivery: DeliveryRecord): void {
  const { id, sentId, dueAt, content, recipients } = delivery;
  ledger.expect(listed(sentId, id));
  const isOpen = recipients.some(({ state }) => state === 'queued' || state === 'sending');
  if (hasEnded(delivery)) {
    if (isOpen) ledger.expect(`end of every recipient of delivery ${id}, which has ended`);
    if (getSent(reader, sentId) === undefined) ledger.expect(`sent message ${sentId} of delivery ${id}`);
    return;
  }
  ledger.expect(content === null ? `end of delivery ${id}, which has no content` : blobEntry(content));
  if (dueAt !== null) ledger.expect(pendingEntry.deliver(id, dueAt));
}
