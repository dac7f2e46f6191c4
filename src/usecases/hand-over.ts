import { getSent, type SentRecord } from '../store/sent.js';
import type { Store } from '../store/store.js';
import type { WorkQueue } from './ports.js';
import type { SendReceipt } from './send-request.js';
import type { SendResult, SendsInHand } from './sends-in-hand.js';
import { viewSent } from './sent-view.js';
import { withShownThread } from './shown-thread.js';

/** An attempt that is on disk, and its message for the relay. */
export interface Reserved {
  readonly record: SentRecord;
  readonly message: Uint8Array;
  /** What its receipt says of its key. */
  readonly keyed: Pick<SendReceipt, 'replayed' | 'idempotency_expires_at'>;
}

export interface HandOverDeps {
  readonly store: Store;
  readonly inHand: SendsInHand;
  readonly queue: WorkQueue;
  /** How long a request waits for the outcome. */
  readonly responseTimeoutMs: number;
}

/**
 * Offers a reserved message to the relay and waits for what becomes of it; without a word from there, it is as it is
 * saved. Nothing here is an async function, which would keep all that it was given while it waits: of a message
 * that is waited for only its record stays in memory, and its bytes as `SendsInHand` has room for them.
 */
export function handOver(deps: HandOverDeps, { record, message, keyed }: Reserved): Promise<SendReceipt> {
  const { store, inHand, queue, responseTimeoutMs } = deps;
  const { id, attempt } = record;
  if (attempt === 'settled') return Promise.resolve(receiptOf(store, record, keyed, null));
  const outcome = inHand.hold(id, message, responseTimeoutMs);
  queue.offer([id]);
  return outcome.then(result => receiptOf(store, record, keyed, result));
}

function receiptOf(
  store: Store,
  record: SentRecord,
  keyed: Reserved['keyed'],
  result: SendResult | null,
): SendReceipt {
  const { message, isPersisted } = result ?? {
    message: viewSent(store.read(reader => withShownThread(reader, getSent(reader, record.id) ?? record))),
    isPersisted: true,
  };
  return { limited: false, message, outcome_persisted: isPersisted, ...keyed };
}
