import { Refusal } from '../../domain/errors.js';
import type { DeliveryId, MessageId } from '../../domain/ids.js';
import { isHeldAfterRestore } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { getSent } from '../../store/mailbox/messages.js';
import {
  type DeliveryRecord,
  deliveriesOf,
  getDelivery,
  hasEnded,
  type RecipientDelivery,
  removeDelivery,
  saveDelivery,
} from '../../store/records/deliveries.js';
import { getInbox } from '../../store/records/inboxes.js';
import { learnOfRecipient } from '../inboxes/suppressions.js';
import { type Clock, type Deliverer, type DeliveryOutcome, type Logger, lapseInstant } from '../ports.js';
import { readWhole } from '../shared/contents.js';
import {
  abandoned,
  afterAttempt,
  afterCrash,
  afterNotice,
  beforeDot,
  hasCome,
  isNoSuchAddress,
  isQueued,
  isSending,
  isUntold,
  type Notice,
  owedNotice,
} from './delivery-states.js';

/**
 * Why nothing is delivered twice.
 *
 * A delivery is a record, made in the commit that reserves the send, and its entry in the pending index. Before the
 * final dot of a transaction leaves, its recipients are `sending` on disk; only a reply, or the knowledge that the dot
 * never left, takes a recipient out of that state. So wherever the process ends:
 *
 * - before the mark: no dot has left; the recipient is `queued` and tried again;
 * - after the mark: the message may have arrived. The next look makes it `unknown`, its sender is told, and nothing
 *   tries it again but an admin who says that it may be delivered twice.
 */
export interface DeliverDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly deliverer: Deliverer;
  /**
   * Tells the sending inbox of deliveries of one message, and calls `alongside` in the unit of work that does.
   * @returns false when there is no room for it now; true also when there is nobody to be told any more
   */
  readonly notify: (
    deliveries: readonly DeliveryRecord[],
    notice: Notice,
    alongside: (writer: Writer) => void,
  ) => Promise<boolean>;
  /** Messages whose sender is being told: never twice at once. */
  readonly telling: Set<MessageId>;
  readonly log: Logger;
  /** After so long what waits is given up. */
  readonly maxAgeMs: number;
}

/** How soon it is looked whether deliveries are held no longer, after the store was restored from a backup. */
const HELD_LOOK_MS = 5_000;
/** A notice that could not be delivered, for want of room, is tried again after this time. */
const NOTICE_AGAIN_MS = 60_000;
/** What fails within this time at several domains is told in one notice. */
const TOGETHER_MS = 10_000;
/** How soon it is looked whether the others have come to an end. */
const LOOK_AGAIN_MS = 500;

/**
 * Does what is due of a delivery: the next attempt, then the notice that is owed. Calling it for one that has ended, is
 * gone or is not due does no harm; it must not run twice at once for the same delivery.
 * @returns the milliseconds after which it is due again; undefined when it has ended
 */
export async function deliver(deps: DeliverDeps, id: DeliveryId): Promise<number | undefined> {
  const { store, clock } = deps;
  if (store.read(isHeldAfterRestore)) return HELD_LOOK_MS;
  const found = store.read(reader => getDelivery(reader, id));
  if (found === undefined || hasEnded(found)) return undefined;
  const whole = found.recipients.some(isSending) ? await settleLeft(deps, found) : found;
  if (whole === undefined) return undefined;
  const isOrphan = store.read(reader => getInbox(reader, whole.inboxId)) === undefined;
  if (isOrphan) {
    await change(deps, id, current => abandoned(current, clock()));
    return undefined;
  }
  const isDue = whole.nextAt !== null && hasCome(whole.nextAt, clock());
  const tried = isDue ? await tryOnce(deps, whole) : whole;
  return tried === undefined ? undefined : settleNotice(deps, tried);
}

/** Nobody delivers it now, so what is marked was left by an attempt that did not come to its end. */
async function settleLeft(
  deps: DeliverDeps,
  { id, sentId }: DeliveryRecord,
): Promise<DeliveryRecord | undefined> {
  const settled = await change(deps, id, current => afterCrash(current, deps.clock()));
  deps.log.warn(
    { message_id: sentId },
    'an attempt ended between a final dot and its answer: who was to get the message is unknown',
  );
  return settled;
}

async function tryOnce(deps: DeliverDeps, delivery: DeliveryRecord): Promise<DeliveryRecord | undefined> {
  const outcomes = await attempt(deps, delivery);
  const { store, maxAgeMs, clock } = deps;
  return store.write(writer => {
    const before = getDelivery(writer, delivery.id);
    if (before === undefined) return undefined;
    const nowMs = clock();
    const after = afterAttempt(before, outcomes, { nowMs, lapseMs: lapseInstant(clock), maxAgeMs });
    for (const [at, one] of after.recipients.entries()) {
      const isNews = one.state === 'failed' && before.recipients[at]?.state !== 'failed';
      if (isNews && isNoSuchAddress(one)) learn(writer, after, one, nowMs);
    }
    return put(writer, before, after, nowMs);
  }, 'settle');
}

function learn(
  writer: Writer,
  { accountId }: DeliveryRecord,
  { address, code, reply }: RecipientDelivery,
  nowMs: number,
): void {
  learnOfRecipient(writer, {
    accountId,
    recipient: address,
    source: 'delivery',
    status: code,
    diagnostic: reply,
    at: nowMs,
  });
}

/**
 * Tells the sender what it is owed, and says when the delivery is due again. One notice tells of all deliveries of the
 * message of which the same is to be told now.
 */
async function settleNotice(deps: DeliverDeps, delivery: DeliveryRecord): Promise<number | undefined> {
  const { store, clock, telling } = deps;
  const { id, sentId } = delivery;
  const notice = owedNotice(delivery, lapseInstant(clock));
  if (notice === null) return pauseOf(delivery, clock());
  const all = store.read(reader => deliveriesOf(reader, sentId));
  if (telling.has(sentId) || awaitsOthers(delivery, notice, all, clock())) return LOOK_AGAIN_MS;
  const those = all.filter(one => one.id === id || owedNotice(one, lapseInstant(clock)) === notice);
  const tell = (writer: Writer): void => {
    // Another of them may have got news meanwhile, of which this notice does not tell.
    for (const one of those) {
      changeIn(writer, deps, one.id, current => afterNotice(current, notice, clock(), one));
    }
  };
  telling.add(sentId);
  try {
    if (!(await deps.notify(those, notice, tell))) return NOTICE_AGAIN_MS;
    // Once more where there was nobody to be told.
    await store.write(tell, 'settle');
  } finally {
    telling.delete(sentId);
  }
  return pauseOf(
    store.read(reader => getDelivery(reader, id)),
    clock(),
  );
}

/** May another domain of the message fail in a moment, too? Then its sender is told of both at once. */
function awaitsOthers(
  { id, recipients }: DeliveryRecord,
  notice: Notice,
  all: readonly DeliveryRecord[],
  nowMs: number,
): boolean {
  const ageMs = nowMs - Math.max(...recipients.filter(isUntold).map(({ at }) => at));
  if (notice !== 'ended' || ageMs < 0 || ageMs >= TOGETHER_MS) return false;
  return all.some(({ id: other, nextAt }) => other !== id && nextAt !== null && nextAt <= nowMs);
}

/** Changes a delivery in a unit of work of its own; undefined when it is gone, or goes with this. */
async function change(
  deps: Pick<DeliverDeps, 'store' | 'clock'>,
  id: DeliveryId,
  by: (current: DeliveryRecord) => DeliveryRecord,
): Promise<DeliveryRecord | undefined> {
  return deps.store.write(writer => changeIn(writer, deps, id, by), 'settle');
}

function changeIn(
  writer: Writer,
  { clock }: Pick<DeliverDeps, 'clock'>,
  id: DeliveryId,
  by: (current: DeliveryRecord) => DeliveryRecord,
): DeliveryRecord | undefined {
  const current = getDelivery(writer, id);
  return current === undefined ? undefined : put(writer, current, by(current), clock());
}

function pauseOf(delivery: DeliveryRecord | undefined, nowMs: number): number | undefined {
  if (delivery === undefined || delivery.dueAt === null) return undefined;
  const { dueAt, nextAt } = delivery;
  if (dueAt > nowMs || nextAt === null || hasCome(nextAt, nowMs)) return Math.max(0, dueAt - nowMs);
  // Due for a notice alone, which is not given while the clock is in doubt.
  return nextAt - nowMs;
}

/** A delivery that has ended stays for its sent message to show; without that it goes. */
function put(
  writer: Writer,
  before: DeliveryRecord,
  after: DeliveryRecord,
  nowMs: number,
): DeliveryRecord | undefined {
  saveDelivery(writer, before, after, nowMs);
  if (!hasEnded(after) || getSent(writer, after.sentId) !== undefined) return after;
  removeDelivery(writer, after);
  return undefined;
}

async function attempt(deps: DeliverDeps, delivery: DeliveryRecord): Promise<readonly DeliveryOutcome[]> {
  const { store, clock, deliverer } = deps;
  const { id, sentId, domain, from } = delivery;
  const recipients = delivery.recipients.filter(isQueued).map(({ address }) => address);
  const bytes = await readContent(deps, delivery);
  if (bytes === null) return recipients.map(contentMissing);
  return deliverer.deliver({
    id: sentId,
    domain,
    from,
    recipients,
    content: bytes,
    beforeDot: taken =>
      store.write(writer => {
        const current = getDelivery(writer, id);
        const marked = current === undefined ? null : beforeDot(current, taken, clock());
        if (current === undefined || marked === null) return false;
        // Deleted since the attempt began.
        if (getInbox(writer, current.inboxId) === undefined) return false;
        saveDelivery(writer, current, marked, clock());
        return true;
      }, 'settle'),
  });
}

async function readContent({ store, log }: DeliverDeps, delivery: DeliveryRecord): Promise<Buffer | null> {
  try {
    return delivery.content === null ? null : await readWhole(store, delivery.content);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    log.error(
      { message_id: delivery.sentId },
      'stored bytes of a message that was to be delivered are missing',
    );
    return null;
  }
}

function contentMissing(recipient: string): DeliveryOutcome {
  const reply = 'its stored content is missing';
  return { recipient, state: 'failed', host: null, tls: null, code: '5.3.0', reply };
}
