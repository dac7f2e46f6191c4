import type { Deliveries } from '../../contract/deliveries.js';
import type { Store } from '../../store/engine/store.js';
import { deliveriesOf } from '../../store/records/deliveries.js';
import { locate, type MessageInput } from '../mailbox/message-access.js';
import { isRelayed, relayedDeliveries } from './relayed-deliveries.js';
import { viewDelivery } from './view-delivery.js';

/** What became of a sent message for each recipient (`listDeliveries`). */
export function listDeliveries({ store }: { readonly store: Store }, input: MessageInput): Deliveries {
  return store.read(reader => {
    const sent = locate(reader, input, { kinds: ['sent'], trash: 'live' });
    const written = deliveriesOf(reader, sent.id);
    const deliveries = isRelayed(written) ? relayedDeliveries(sent, written) : written.flatMap(viewDelivery);
    return { message_id: sent.id, deliveries };
  });
}
