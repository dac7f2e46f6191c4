import type { MessageId } from '../domain/ids.js';
import { within } from '../lib/async.js';
import type { Store } from '../store/engine/store.js';
import { listDue, type PendingWork } from '../store/records/pending.js';
import type { Clock, WorkQueue } from '../usecases/ports.js';
import { type PendingPage, Reconciler, type ReconcilerOptions } from './reconciler.js';
import { WorkConsumer, type WorkConsumerOptions } from './work-consumer.js';
import { BullWorkQueue, type BullWorkQueueOptions } from './work-queue.js';

export interface WorkLineOptions<Position>
  extends BullWorkQueueOptions,
    Omit<WorkConsumerOptions, 'handler' | 'onDone'>,
    Omit<ReconcilerOptions<Position>, 'queue'> {
  /**
   * Does the work of one id. Must bear being called again for an id that is done, or that is no longer there.
   * @returns after how many milliseconds the id is due again, or nothing when it is done. Either way the store says
   *   so already: this only spares the wait for the reconciler
   */
  readonly handler: (id: MessageId) => Promise<number | undefined>;
  /** An id that is offered is worked on at once while there is room, without the way through Redis. */
  readonly isDirect?: boolean;
}

/**
 * One kind of work on messages, from the commit that makes it necessary to the one that completes it: a queue, a
 * consumer and a reconciler, started and stopped as one. Whoever has made work necessary offers its id, which never
 * waits and may be forgotten; the reconciler finds in the store what was (`reconciler.ts` says why nothing is lost).
 * Nothing of it needs Redis to be there.
 */
export class WorkLine<Position> implements WorkQueue {
  readonly #options: WorkLineOptions<Position>;
  readonly #queue: BullWorkQueue;
  readonly #consumer: WorkConsumer;
  readonly #reconciler: Reconciler<Position>;

  constructor(options: WorkLineOptions<Position>) {
    this.#options = options;
    const queue = new BullWorkQueue(options);
    this.#queue = queue;
    this.#consumer = new WorkConsumer({
      ...options,
      handler: id => this.#work(id),
      onDone: id => queue.done(id),
    });
    this.#reconciler = new Reconciler({ ...options, queue });
  }

  /** Begins to work as soon as Redis is there; never throws for an absent Redis. */
  start(): void {
    this.#queue.start();
    this.#consumer.start();
    this.#reconciler.start();
  }

  /**
   * From the moment of the call no work is begun. Resolves when the work in hand has ended, or after
   * `closeTimeoutMs`: what was cut off is pending in the store still.
   */
  async close(): Promise<void> {
    const closed = [this.#consumer.close(), this.#reconciler.stop()];
    await Promise.all(closed);
    await this.#queue.close();
  }

  /** Can ids be offered now? Those that are offered otherwise are left to the reconciler. */
  get isReady(): boolean {
    return this.#queue.isReady;
  }

  /** Resolves when ids can be offered, after `timeoutMs` at the latest: Redis may be away. */
  async whenReady(timeoutMs: number): Promise<void> {
    if (this.isReady) return;
    let stopListening = (): void => {};
    const ready = new Promise<void>(resolve => {
      stopListening = this.#queue.onReady(resolve);
    });
    await within(timeoutMs, ready);
    stopListening();
  }

  offer(ids: readonly MessageId[]): void {
    const { isDirect = false } = this.#options;
    this.#queue.offer(isDirect ? ids.filter(id => !this.#consumer.takeNow(id)) : ids);
  }

  async #work(id: MessageId): Promise<void> {
    const againMs = await this.#options.handler(id);
    if (againMs === undefined || againMs > LONGEST_TIMER_MS) return;
    setTimeout(() => this.offer([id]), Math.max(0, againMs)).unref();
  }
}

/** What is due later than this is left to the reconciler: timers of a backlog must not fill the memory. */
const LONGEST_TIMER_MS = 30_000;

/** Work that one message makes necessary. */
type MessageWork = Extract<PendingWork, { readonly id: MessageId }>['kind'];

/** Messages with work of this kind that is due by `clock`, oldest first, page by page, as a reconciler asks for them. */
export function pendingWork(
  store: Pick<Store, 'read'>,
  kind: MessageWork,
  clock: Clock,
): (limit: number, after?: Buffer) => PendingPage<Buffer> {
  return (limit, after) => {
    const due = store.read(reader => listDue(reader, kind, clock(), limit, after));
    return {
      ids: due.map(({ work }) => work.id),
      next: due.length < limit ? null : (due.at(-1)?.position ?? null),
    };
  };
}
