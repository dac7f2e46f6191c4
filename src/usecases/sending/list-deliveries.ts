import type { Deliveries, Delivery } from '../../contract/deliveries.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import { type DeliveryRecord, deliveriesOf } from '../../store/records/deliveries.js';
import { locate, type MessageInput } from '../mailbox/message-access.js';
import { relayedDeliveries } from './relayed-deliveries.js';

/** What became of a sent message for each recipient (`listDeliveries`). */
export function listDeliveries({ store }: { readonly store: Store }, input: MessageInput): Deliveries {
  return store.read(reader => {
    const sent = locate(reader, input, { kinds: ['sent'], trash: 'live' });
    const written = deliveriesOf(reader, sent.id);
    const deliveries = [...written.flatMap(viewDelivery), ...relayedDeliveries(sent, written)];
    return { message_id: sent.id, deliveries };
  });
}

/** In the order of its recipients. */
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
