import type { Deliveries, Delivery } from '../../contract/deliveries.js';
import type { MessageId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { type DeliveryRecord, deliveriesOf } from '../../store/records/deliveries.js';
import { locate, type MessageInput } from '../mailbox/message-access.js';

/** What became of a sent message for each recipient (`listDeliveries`). */
export function listDeliveries({ store }: { readonly store: Store }, input: MessageInput): Deliveries {
  return store.read(reader => {
    const { id } = locate(reader, input, { kinds: ['sent'], trash: 'live' });
    return { message_id: id, deliveries: viewDeliveries(reader, id) };
  });
}

/** By domain, each in the order of its recipients. */
export function viewDeliveries(reader: Reader, sentId: MessageId): Delivery[] {
  return deliveriesOf(reader, sentId).flatMap(viewDelivery);
}

export function viewDelivery({ recipients, nextAt }: DeliveryRecord): Delivery[] {
  return recipients.map(({ address, state, attempts, at, host, tls, code, reply }) => ({
    recipient: address,
    state,
    attempts,
    updated_at: toInstant(at),
    next_attempt_at: state === 'queued' && nextAt !== null ? toInstant(nextAt) : null,
    host,
    tls,
    code,
    reply,
  }));
}
