import {
  type AccountId,
  type DeliveryId,
  type InboxId,
  idFromBytes,
  idToBytes,
  type MessageId,
} from '../../domain/ids.js';
import { joinKey, range } from '../engine/keys.js';
import { jsonValue, noValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import { type BlobRef, releaseBlob } from './blobs.js';
import { noteEvent } from './events.js';
import { addPending, removePending } from './pending.js';

/**
 * What becomes of one recipient. `queued` is tried again when the delivery is due. `sending` stands on disk before the
 * final dot leaves: when the process ends with it, the message may have arrived. The others are final.
 */
export type RecipientState = 'queued' | 'sending' | 'delivered' | 'failed' | 'unknown' | 'cancelled';

export interface RecipientDelivery {
  /** Forward-path as given. */
  readonly address: string;
  readonly state: RecipientState;
  /** Attempts in which a server was asked about it, or none was reached. */
  readonly attempts: number;
  /** When this was last changed. */
  readonly at: number;
  /** The server of the last attempt; null when none was reached. */
  readonly host: string | null;
  /** Protocol of its session; null in plain text. */
  readonly tls: string | null;
  /** Enhanced status code (RFC 3463) of the last attempt; null before the first. */
  readonly code: string | null;
  /** What the server said last, one line of printable ASCII. */
  readonly reply: string | null;
  /** The sending inbox has a notice that says how it ended. */
  readonly isTold: boolean;
}

/** One message for its recipients of one domain: they share every transaction. */
export interface DeliveryRecord {
  readonly id: DeliveryId;
  readonly sentId: MessageId;
  readonly inboxId: InboxId;
  readonly accountId: AccountId;
  /** Lower case, A-labels. */
  readonly domain: string;
  /** Reverse-path; `""` for the null sender. */
  readonly from: string;
  /**
   * The message as it is transmitted. It belongs to the deliveries until the last of them ends. Null where a relay has
   * taken the message, and only a report is known of the recipient.
   */
  readonly content: BlobRef | null;
  readonly recipients: readonly RecipientDelivery[];
  readonly createdAt: number;
  /** Attempts so far. */
  readonly attempts: number;
  /** When it is tried next; null when nothing is left to be tried. */
  readonly nextAt: number | null;
  /** The due instant of its pending entry: of the next attempt, or of a notice that is owed; null once it has ended. */
  readonly dueAt: number | null;
  /** The sender was told that it takes long. */
  readonly toldDelay: boolean;
}

export const deliveriesTable: Table<DeliveryId, DeliveryRecord> = {
  name: 'deliveries',
  encodeKey: idToBytes,
  ...jsonValue<DeliveryRecord>(1),
};

/** Sent message, then delivery. */
export const sentDeliveriesTable: Table<{ sentId: MessageId; id: DeliveryId }, true> = {
  name: 'sent_deliveries',
  encodeKey: ({ sentId, id }) => joinKey(idToBytes(sentId), idToBytes(id)),
  ...noValue,
};

export function getDelivery(reader: Reader, id: DeliveryId): DeliveryRecord | undefined {
  return reader.get(deliveriesTable, id);
}

/** More than a message has recipients. */
const MAX_OF_MESSAGE = 100;

/** The deliveries of a sent message, in the order in which they were made. */
export function deliveriesOf(reader: Reader, sentId: MessageId): DeliveryRecord[] {
  const keys = reader.scanKeys(sentDeliveriesTable, { ...range(idToBytes(sentId)), limit: MAX_OF_MESSAGE });
  return keys.flatMap(key => getDelivery(reader, idFromBytes<DeliveryId>(key, 16)) ?? []);
}

/** Will nothing happen to it any more? */
export function hasEnded({ dueAt }: DeliveryRecord): boolean {
  return dueAt === null;
}

/**
 * Writes a delivery with its pending entry. When it ends, its share of the content is released, and the record itself
 * goes with the sent message that it belongs to.
 * @param before what the store holds of it; null when it is made
 */
export function saveDelivery(
  writer: Writer,
  before: DeliveryRecord | null,
  after: DeliveryRecord,
  nowMs: number,
): void {
  const { id, sentId, dueAt } = after;
  writer.put(deliveriesTable, id, after);
  if (before === null) writer.put(sentDeliveriesTable, { sentId, id }, true);
  if (hasChanged(before, after)) {
    const { inboxId } = after;
    noteEvent(writer, { type: 'delivery.changed', inboxId, messageId: sentId, deliveryId: id }, nowMs);
  }
  const dueBefore = before?.dueAt ?? null;
  if (dueBefore !== dueAt) {
    if (dueBefore !== null) removePending(writer, { kind: 'deliver', dueAt: dueBefore, id });
    if (dueAt !== null) addPending(writer, dueAt, { kind: 'deliver', id });
  }
  if (dueBefore !== null && dueAt === null && after.content !== null) {
    releaseBlob(writer, after.content.id, nowMs);
  }
}

/** Has anything become of it that its sender waits for? That it is made, or that a dot is about to leave, is not. */
function hasChanged(before: DeliveryRecord | null, { recipients }: DeliveryRecord): boolean {
  return recipients.some((one, at) => {
    const was = before?.recipients[at] ?? NOTHING_YET;
    return (
      stageOf(one) !== stageOf(was) ||
      one.attempts !== was.attempts ||
      one.code !== was.code ||
      one.reply !== was.reply
    );
  });
}

const NOTHING_YET = { state: 'queued', attempts: 0, code: null, reply: null } as const;

function stageOf({ state }: Pick<RecipientDelivery, 'state'>): RecipientState {
  return state === 'sending' ? 'queued' : state;
}

/** Removes a delivery that has ended. */
export function removeDelivery(writer: Writer, { id, sentId }: DeliveryRecord): void {
  writer.remove(deliveriesTable, id);
  writer.remove(sentDeliveriesTable, { sentId, id });
}

/** The sent message is gone: so are deliveries that have ended. Others go on, and go when they end. */
export function forgetDeliveries(writer: Writer, sentId: MessageId): void {
  for (const delivery of deliveriesOf(writer, sentId))
    if (hasEnded(delivery)) removeDelivery(writer, delivery);
}
