import { toSuppressedAddress } from '../../domain/addresses.js';
import {
  type DeliveryRecord,
  deliveriesOf,
  type RecipientDelivery,
  saveDelivery,
} from '../../store/records/deliveries.js';
import type { BounceNews, NoteBounce } from '../inbound/note-report.js';
import type { Clock } from '../ports.js';
import { isQueued, planned } from './delivery-states.js';

/**
 * What another system reports about a recipient is the last word, unless it has failed already: one that waits is not
 * tried any more. Whoever else got the message could forge that, and this is all that it does.
 */
export function noteBounce(clock: Clock): NoteBounce {
  return (writer, news) => {
    const nowMs = clock();
    for (const delivery of deliveriesOf(writer, news.sentId)) {
      const after = afterReport(delivery, news, nowMs);
      if (after !== null) saveDelivery(writer, delivery, after, nowMs);
    }
  };
}

/** The delivery as it is then; null when the report changes nothing of it. */
function afterReport(delivery: DeliveryRecord, news: BounceNews, nowMs: number): DeliveryRecord | null {
  const meant = toSuppressedAddress(news.recipient);
  const recipients = delivery.recipients.map(one =>
    toSuppressedAddress(one.address) === meant ? recipientAfter(one, news, nowMs) : one,
  );
  if (recipients.every((one, at) => one === delivery.recipients[at])) return null;
  const nextAt = recipients.some(isQueued) ? delivery.nextAt : null;
  return planned({ ...delivery, recipients, nextAt }, nowMs);
}

function recipientAfter(
  before: RecipientDelivery,
  { kind, status, diagnostic }: BounceNews,
  nowMs: number,
): RecipientDelivery {
  // The report is in the inbox, so that no notice is owed.
  const reported = { ...before, at: nowMs, isTold: true };
  if (kind === 'complaint') {
    // Whoever complains has got it.
    const hasIt = before.state === 'delivered' || before.state === 'unknown';
    return hasIt
      ? { ...reported, state: 'delivered', reply: 'the recipient calls the message abuse' }
      : before;
  }
  if (before.state === 'failed') return before;
  return {
    ...reported,
    state: 'failed',
    code: status ?? '5.0.0',
    reply: diagnostic ?? 'another system reports that it was not delivered',
  };
}
