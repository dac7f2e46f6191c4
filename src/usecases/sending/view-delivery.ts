import type { Delivery } from '../../contract/deliveries.js';
import { toInstant } from '../../domain/instants.js';
import type { DeliveryRecord } from '../../store/records/deliveries.js';

/** One entry a recipient, in the order of the record. */
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
