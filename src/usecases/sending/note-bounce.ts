import { toSuppressedAddress } from '../../domain/addresses.js';
import { getSent } from '../../store/mailbox/messages.js';
import {
  type DeliveryRecord,
  deliveriesOf,
  type RecipientDelivery,
  saveDelivery,
} from '../../store/records/deliveries.js';
import type { BounceNews, NoteBounce } from '../inbound/note-report.js';
import type { Clock } from '../ports.js';
import { isQueued, planned } from './delivery-states.js';
import { isRelayed, reportedDelivery } from './relayed-deliveries.js';

/**
 * What another system reports about a recipient is the last word, unless it has failed already: one that waits is not
 * tried any more. Whoever else got the message could forge that, and this is all that it does.
 * Of a message that a relay took, the first report about a recipient writes the record (`relayed-deliveries.ts`).
 */
export function noteBounce(clock: Clock): NoteBounce {
  return (writer, news) => {
    const nowMs = clock();
    const written = deliveriesOf(writer, news.sentId);
    for (const delivery of written) {
      const after = afterReport(delivery, news, nowMs);
      if (after !== null) saveDelivery(writer, delivery, after, nowMs);
    }
    const isKnown = written.some(({ recipients }) => recipients.some(one => isMeant(one, news)));
    const sent = isKnown || !isRelayed(written) ? undefined : getSent(writer, news.sentId);
    if (sent === undefined) return;
    const before = reportedDelivery(sent, news.recipient, nowMs);
    const after = before === null ? null : afterReport(before, news, nowMs);
    if (after !== null) saveDelivery(writer, null, after, nowMs);
  };
}

/** The delivery as it is then; null when the report changes nothing of it. */
function afterReport(delivery: DeliveryRecord, news: BounceNews, nowMs: number): DeliveryRecord | null {
  const recipients = delivery.recipients.map(one =>
    isMeant(one, news) ? recipientAfter(one, news, nowMs) : one,
  );
  if (recipients.every((one, at) => one === delivery.recipients[at])) return null;
  const nextAt = recipients.some(isQueued) ? delivery.nextAt : null;
  return planned({ ...delivery, recipients, nextAt }, nowMs);
}

function isMeant({ address }: RecipientDelivery, { recipient }: BounceNews): boolean {
  return toSuppressedAddress(address) === toSuppressedAddress(recipient);
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
