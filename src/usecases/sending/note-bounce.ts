import { deliveriesOf, type RecipientDelivery, saveDelivery } from '../../store/records/deliveries.js';
import type { NoteBounce } from '../inbound/note-report.js';
import type { Clock } from '../ports.js';
import { planned } from './delivery-states.js';

/**
 * What another system reports about a recipient that had got the message, or may have, is the last word. One that is
 * still tried is left alone: a report could be forged by whoever else got the message.
 */
export function noteBounce(clock: Clock): NoteBounce {
  return (writer, { sentId, recipient, kind, status, diagnostic }) => {
    if (kind === 'complaint') return;
    const nowMs = clock();
    for (const delivery of deliveriesOf(writer, sentId)) {
      const isMeant = ({ address, state }: RecipientDelivery): boolean =>
        address === recipient && (state === 'delivered' || state === 'unknown');
      if (!delivery.recipients.some(isMeant)) continue;
      const failed = {
        state: 'failed',
        at: nowMs,
        code: status ?? '5.0.0',
        reply: diagnostic ?? 'another system reports that it was not delivered',
        // The report is in the inbox.
        isTold: true,
      } as const;
      const recipients = delivery.recipients.map(one => (isMeant(one) ? { ...one, ...failed } : one));
      saveDelivery(writer, delivery, planned({ ...delivery, recipients }, nowMs), nowMs);
    }
  };
}
