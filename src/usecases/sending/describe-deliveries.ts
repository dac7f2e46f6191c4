import type { Delivery } from '../../contract/deliveries.js';
import { saysNoSuchAddress } from '../../domain/delivery-reports.js';
import { notFound } from '../../domain/errors.js';
import { type MessageId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import { getSent, type SentRecord } from '../../store/mailbox/messages.js';
import { type DeliveryRecord, deliveriesOf } from '../../store/records/deliveries.js';
import { addressOf, getInbox } from '../../store/records/inboxes.js';
import { isNoSuchAddress } from './delivery-states.js';
import { isRelayed, relayedDeliveries } from './relayed-deliveries.js';
import { viewDelivery } from './view-delivery.js';

/** All that is known of where a message went, for the admin. */
export interface MessageDeliveries {
  readonly message_id: string;
  /** Address of the inbox that sent it; null when that is deleted. */
  readonly inbox: string | null;
  /** Null when the sent copy is deleted. */
  readonly subject: string | null;
  /** When the send was reserved; null when the sent copy is deleted. */
  readonly sent_at: string | null;
  /** By domain. */
  readonly deliveries: readonly DescribedDelivery[];
}

export interface DescribedDelivery extends Delivery {
  /** When a recipient that waits is given up; null for others. */
  readonly give_up_at: string | null;
  /** What it means, and what can be done. */
  readonly advice: string;
}

/**
 * @param id of the sent message, whose copy may be deleted while it is being delivered
 * @throws not_found when there is neither a sent message nor a delivery
 */
export function describeDeliveries(
  { store, maxAgeMs }: { readonly store: Store; readonly maxAgeMs: number },
  id: string,
): MessageDeliveries {
  return store.read(reader => {
    const sentId = toId<MessageId>(id);
    const sent = sentId === null ? undefined : getSent(reader, sentId);
    const records = sentId === null ? [] : deliveriesOf(reader, sentId);
    const inboxId = sent?.inboxId ?? records[0]?.inboxId;
    if (inboxId === undefined) throw notFound(`sent message ${id}`);
    const inbox = getInbox(reader, inboxId);
    return {
      message_id: id,
      inbox: inbox === undefined ? null : addressOf(inbox),
      subject: sent?.subject ?? null,
      sent_at: sent === undefined ? null : toInstant(sent.reservedAt),
      deliveries:
        sent !== undefined && isRelayed(records)
          ? relayedDeliveries(sent, records).map(one => describedRelayed(one, sent))
          : records.flatMap(record => described(record, maxAgeMs)),
    };
  });
}

/** A relay takes the message, or has taken it. */
function describedRelayed(delivery: Delivery, sent: SentRecord): DescribedDelivery {
  return { ...delivery, give_up_at: null, advice: adviceOnRelayed(delivery, sent) };
}

function adviceOnRelayed({ recipient, state, code }: Delivery, sent: SentRecord): string {
  const { id, attempt, errorCode, accountId } = sent;
  if (attempt === 'held') {
    return `It is held: it has not gone out for a day, or was put into Trash. "postern queue retry ${id}" lets it go.`;
  }
  // The outcome of the message has no code: a report has.
  if (state === 'failed' && code !== null) {
    return saysNoSuchAddress(code)
      ? noSuchAddress('A report that came in says that there is no such address.', recipient, accountId)
      : 'A report that came in says so, and its words say why. It is not tried again.';
  }
  if (errorCode === 'E_RECIPIENT_SUPPRESSED') {
    return 'A recipient of the message is suppressed, so nobody was asked to take it: "postern suppression list" shows which.';
  }
  return RELAYED[state];
}

/** Learnt addresses are suppressed for the account (`inboxes/suppressions.ts`). */
function noSuchAddress(why: string, recipient: string, accountId: string): string {
  return `${why} It is not tried again, and the account sends nothing there for 90 days: "postern suppression remove ${recipient} --account ${accountId}" lifts that.`;
}

const RELAYED: Readonly<Record<Delivery['state'], string>> = {
  queued: 'It waits for the relay; "postern queue status" tells why.',
  sending: 'The relay is being asked.',
  delivered:
    'The relay has it (the smarthost, or an inbox of this service). What it reports later is seen here.',
  failed: 'The relay did not take it, and nobody got it. It is not tried again.',
  unknown:
    'It may have arrived: nobody knows whether the relay took it. Ask the recipient before you send it anew.',
  cancelled: 'It was cancelled.',
};

function described(record: DeliveryRecord, maxAgeMs: number): DescribedDelivery[] {
  const giveUpAt = toInstant(record.createdAt + maxAgeMs);
  return viewDelivery(record).map(one => ({
    ...one,
    give_up_at: one.state === 'queued' ? giveUpAt : null,
    advice: adviceOn(one, record),
  }));
}

function adviceOn(delivery: Delivery, { sentId, accountId }: DeliveryRecord): string {
  switch (delivery.state) {
    case 'queued':
      return `${waits(delivery)} "postern queue retry ${sentId}" tries it now, "postern queue cancel ${sentId}" gives it up.`;
    case 'sending':
      return 'All of it was sent, or is about to be: the answer of the server comes within ten minutes. If the daemon is not running, its next start makes this unknown.';
    case 'delivered':
      return 'The server of the recipient has it.';
    case 'failed':
      return onFailure(delivery, accountId);
    case 'unknown':
      return `It may have arrived: the connection ended before the server said so. Ask the recipient; if it has not come, "postern queue retry ${sentId} --even-if-delivered" sends it once more.`;
    case 'cancelled':
      return 'It was cancelled, by the operator or with its inbox, and nobody was told. Only a new message goes there.';
  }
}

function waits({ attempts, host, code }: Delivery): string {
  if (attempts === 0) {
    return 'It waits for its first attempt; if that is long ago, see whether the daemon runs ("postern status").';
  }
  if (code?.startsWith('4.7.') === true && host !== null) {
    return 'The server puts it off for a while, as many do with senders they do not know (greylisting, rates). It is tried again by itself.';
  }
  if (code === '4.4.3') {
    return 'The DNS did not tell where mail for its domain goes. It is tried again by itself; if this happens with all domains, see to the resolvers (dns.servers, else /etc/resolv.conf).';
  }
  return host === null
    ? 'No server was reached. It is tried again by itself; if this happens with all domains, "postern dns check" tells whether port 25 is open.'
    : 'It is tried again by itself.';
}

function onFailure(delivery: Delivery, accountId: string): string {
  const { recipient, code } = delivery;
  if (code === null) return 'It is not tried again.';
  if (isNoSuchAddress(delivery)) {
    return noSuchAddress('There is no such address.', recipient, accountId);
  }
  if (saysNoSuchAddress(code))
    return 'There is no such inbox here. "postern inbox list" shows those there are.';
  if (code.startsWith('4.')) {
    return 'It was given up after all its time (relay.direct.max_age_h). Only a new message goes there.';
  }
  if (code.startsWith('5.7.')) {
    return 'The server refuses it by its rules; its words say which. "postern dns check" tells what receivers ask for and is missing: PTR, SPF, DKIM, DMARC.';
  }
  if (code === '5.4.6') {
    return 'The mail servers of its domain lead back to this one. If the domain is ours, add it to mail.domains; else its MX records are wrong.';
  }
  return 'It is not tried again. The words of the server say why.';
}
