import { within } from '../lib/async.js';
import type { Store } from '../store/engine/store.js';
import { listDue, listDueAfter, type PendingKind } from '../store/records/pending.js';
import type { Clock, WorkQueue } from '../usecases/ports.js';
import { type PendingPage, Reconciler, type ReconcilerOptions } from './reconciler.js';
import { WorkConsumer, type WorkConsumerOptions } from './work-consumer.js';
import type { Lane, WorkId } from './work-places.js';
import { BullWorkQueue, type BullWorkQueueOptions } from './work-queue.js';

/** What a piece of work is known by. */
type IdOf<Work> = Work extends { readonly id: infer Key } ? Key : never;

export interface WorkLineOptions<Work, Position>
  extends Omit<BullWorkQueueOptions, 'laneOf'>,
    Omit<WorkConsumerOptions, 'handler' | 'laneOf' | 'onTaken' | 'onDone' | 'onDamage'>,
    Omit<ReconcilerOptions<Position>, 'queue'> {
  /** Reads what decides when the turn of an id comes; undefined when its message is gone. */
  readonly find: (id: IdOf<Work>) => Work | undefined;
  /** Where it waits. Work whose message is gone waits in the first of `places`. */
  readonly laneOf: (work: Work) => Lane;
  /**
   * Does the work of one id. May be called again for an id that is done or deleted, which must do no harm.
   * @returns the milliseconds after which the id is due again, or undefined when it is done. The store must have
   *   recorded the same: the returned value only saves waiting for the reconciler
   */
  readonly handler: (id: IdOf<Work>) => Promise<number | undefined>;
  /** Ids that are offered are worked on at once while there is room, without the queue in Redis. */
  readonly isDirect?: boolean;
  /** Work that is due again within this time is waited for in memory, other in Redis. */
  readonly longestTimerMs?: number;
}

/**
 * One kind of work on messages, from the commit that makes it necessary to the commit that completes it: a queue, a
 * consumer and a reconciler, started and stopped together. Code that has made work necessary offers the id. An offer
 * never waits and may be lost; the reconciler then finds the work in the store (`reconciler.ts` says why nothing is
 * lost). Starting and offering do not need Redis.
 */
export class WorkLine<Work extends { readonly id: WorkId }, Position> implements WorkQueue<Work> {
  readonly #options: WorkLineOptions<Work, Position>;
  readonly #queue: BullWorkQueue;
  readonly #consumer: WorkConsumer;
  readonly #reconciler: Reconciler<Position>;

  constructor(options: WorkLineOptions<Work, Position>) {
    this.#options = options;
    const queue = new BullWorkQueue({ ...options, laneOf: id => this.#findLane(id) });
    this.#queue = queue;
    this.#consumer = new WorkConsumer({
      ...options,
      laneOf: id => queue.laneOf(id) ?? this.#findLane(id),
      handler: id => this.#work(id),
      onTaken: job => queue.taken(job),
      onDone: id => queue.done(id),
      onDamage: () => queue.rebuild(),
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
   * Begins no more work from the moment of the call. Resolves when work in flight has ended, or after
   * `closeTimeoutMs`: work that was cut off is still pending in the store.
   */
  async close(): Promise<void> {
    const closed = [this.#consumer.close(), this.#reconciler.stop()];
    await Promise.all(closed);
    await this.#queue.close();
  }

  /** Can ids be queued now? Otherwise offered ids are left to the reconciler. */
  get isReady(): boolean {
    return this.#queue.isReady;
  }

  /** Resolves when ids can be queued, or after `timeoutMs`: Redis may be away. */
  async whenReady(timeoutMs: number): Promise<void> {
    if (this.isReady) return;
    let stopListening = (): void => {};
    const ready = new Promise<void>(resolve => {
      stopListening = this.#queue.onReady(() => resolve());
    });
    await within(timeoutMs, ready);
    stopListening();
  }

  /** How long no work has ended although there is some (`WorkConsumer.stalledMs`). */
  get stalledMs(): number {
    return this.#consumer.stalledMs;
  }

  /** A limit of places was raised: begins what may begin now. */
  admit(): void {
    this.#consumer.admit();
  }

  offer(work: readonly Work[]): void {
    const { isDirect = false, laneOf } = this.#options;
    const offers = work.map(one => ({ id: one.id, lane: laneOf(one) }));
    this.#queue.offer(isDirect ? offers.filter(({ id, lane }) => !this.#consumer.takeNow(id, lane)) : offers);
  }

  #findLane(id: WorkId): Lane {
    const { find, laneOf, places } = this.#options;
    const work = find(id as IdOf<Work>);
    return work === undefined
      ? { way: Object.keys(places)[0] ?? '', owner: '', isAlone: false }
      : laneOf(work);
  }

  async #work(id: WorkId): Promise<void> {
    const { handler, longestTimerMs = LONGEST_TIMER_MS } = this.#options;
    const againMs = await handler(id as IdOf<Work>);
    if (againMs === undefined) return;
    if (againMs > longestTimerMs) {
      this.#queue.later(id, againMs);
      return;
    }
    const again = (): void => {
      const work = this.#options.find(id as IdOf<Work>);
      if (work !== undefined) this.offer([work]);
    };
    setTimeout(again, Math.max(0, againMs)).unref();
  }
}

/** Work that is due later than this waits in Redis: the timers of a backlog would fill the memory. */
const LONGEST_TIMER_MS = 30_000;

/** The kinds of pending work that lines of workers do. */
type LineWork = Extract<PendingKind, 'parse' | 'authenticate' | 'relay' | 'deliver'>;

/**
 * Lists for a reconciler the work of this kind that is due by `clock`: oldest first, in pages.
 * @param mostAheadMs work that is due later than this from now was planned before the clock was set back: it is due too
 */
export function pendingWork(
  store: Pick<Store, 'read'>,
  kind: LineWork,
  clock: Clock,
  mostAheadMs: number | null = null,
): (limit: number, after?: Buffer) => PendingPage<Buffer> {
  return (limit, after) => {
    const nowMs = clock();
    const due = store.read(reader => {
      const past = listDue(reader, kind, nowMs, limit, after);
      if (mostAheadMs === null || past.length === limit) return past;
      const beyond = listDueAfter(reader, kind, nowMs + mostAheadMs, limit - past.length, after);
      return [...past, ...beyond];
    });
    return {
      ids: due.map(({ work }) => work.id),
      next: due.length < limit ? null : (due.at(-1)?.position ?? null),
    };
  };
}
