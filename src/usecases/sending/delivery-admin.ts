import type { Delivery } from '../../contract/deliveries.js';
import { notFound, refuse } from '../../domain/errors.js';
import { type MessageId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import {
  type DeliveryRecord,
  deliveriesOf,
  getDelivery,
  saveDelivery,
} from '../../store/records/deliveries.js';
import { END_OF_TIME, listDue } from '../../store/records/pending.js';
import type { Clock } from '../ports.js';
import { cancelled, isQueued, planned } from './delivery-states.js';
import { viewDelivery } from './view-delivery.js';

type Deps = { readonly store: Store; readonly clock: Clock };

/** A delivery that has not ended, for the admin. */
export interface QueuedDelivery {
  readonly message_id: string;
  readonly domain: string;
  readonly created_at: string;
  readonly due_at: string | null;
  readonly recipients: readonly Delivery[];
}

/** The front of the queue. */
export interface QueuePage {
  readonly deliveries: readonly QueuedDelivery[];
  /** There are others behind them. */
  readonly has_more: boolean;
}

/** Deliveries that have not ended, those that are due soonest first. */
export function listQueue({ store }: Deps, limit: number): QueuePage {
  return store.read(reader => {
    const due = listDue(reader, 'deliver', END_OF_TIME, limit + 1);
    const deliveries = due.slice(0, limit).flatMap(({ work }) => {
      const delivery = getDelivery(reader, work.id);
      return delivery === undefined ? [] : [viewQueued(delivery)];
    });
    return { deliveries, has_more: due.length > limit };
  });
}

function viewQueued(delivery: DeliveryRecord): QueuedDelivery {
  const { sentId, domain, createdAt, dueAt } = delivery;
  return {
    message_id: sentId,
    domain,
    created_at: toInstant(createdAt),
    due_at: dueAt === null ? null : toInstant(dueAt),
    recipients: viewDelivery(delivery),
  };
}

/** Recipients of a message that were changed. */
export interface ChangedDeliveries {
  readonly message_id: string;
  readonly recipients: readonly string[];
}

/** What waits of a message is not tried any more, and nobody is told; what is under way goes on. */
export async function cancelDeliveries({ store, clock }: Deps, id: string): Promise<ChangedDeliveries> {
  return store.write(writer => {
    const nowMs = clock();
    const deliveries = findDeliveries(writer, id);
    if (deliveries.length === 0) throw notFound(`delivery of a sent message ${id}`);
    const waiting = deliveries.filter(({ recipients }) => recipients.some(isQueued));
    for (const delivery of waiting) saveDelivery(writer, delivery, cancelled(delivery, nowMs), nowMs);
    const recipients = waiting.flatMap(one => one.recipients.filter(isQueued));
    return { message_id: id, recipients: recipients.map(({ address }) => address) };
  }, 'settle');
}

/** What waits of a message is tried at once; null when nothing of it is delivered from here: a relay takes it. */
export async function retryDeliveries({ store, clock }: Deps, id: string): Promise<ChangedDeliveries | null> {
  return store.write(writer => {
    const nowMs = clock();
    const deliveries = findDeliveries(writer, id);
    if (deliveries.length === 0) return null;
    const waiting = deliveries.filter(({ recipients }) => recipients.some(isQueued));
    if (waiting.length === 0) throw refuse('invalid_request', nothingWaits(id, deliveries));
    for (const delivery of waiting) {
      saveDelivery(writer, delivery, planned({ ...delivery, nextAt: nowMs }, nowMs), nowMs);
    }
    const recipients = waiting.flatMap(one => one.recipients.filter(isQueued));
    return { message_id: id, recipients: recipients.map(({ address }) => address) };
  }, 'settle');
}

function nothingWaits(id: string, deliveries: readonly DeliveryRecord[]): string {
  const isUnknown = deliveries.some(({ recipients }) => recipients.some(({ state }) => state === 'unknown'));
  return isUnknown
    ? `Nothing of ${id} waits, but some recipients are unknown: the message may have arrived. With --even-if-delivered it is sent to them again.`
    : `Nothing of ${id} waits to be tried: every recipient has an outcome.`;
}

/** Those that are made from here: of what a relay has taken nothing can be changed. */
function findDeliveries(reader: Reader, id: string): DeliveryRecord[] {
  const sentId = toId<MessageId>(id);
  const deliveries = sentId === null ? [] : deliveriesOf(reader, sentId);
  return deliveries.filter(({ content }) => content !== null);
}
