import type { MessageId } from '../domain/ids.js';
import { backOffMs, reasonOf } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';

/**
 * Why a message that was acknowledged is always parsed.
 *
 * The commit that stores a message also writes an entry into the store's pending index, and the commit that
 * makes it `ready` or `failed` removes the entry. Between the two, something must carry the id to a worker,
 * and that something may forget: an offer is dropped while Redis is away, Redis loses its last second when
 * it is killed, somebody flushes it, the process ends. The reconciler makes up for every such loss by
 * comparing the index with the queue and queueing what is missing. What is queued it knows from the queue's
 * memory, after that has been compared with Redis, batch by batch, at the beginning of each run:
 *
 * - all due entries at the start, whenever Redis comes back, and when a queue that was full has room again,
 *   as far as there is room;
 * - the oldest entries every `intervalMs`. If one of them is missing, the walk goes on, page by page, until
 *   a page is complete. So a flush that nobody noticed is healed by the next run however long the backlog
 *   is, and a run with nothing to do costs one look at the index and one command.
 *
 * Work is therefore done *at least* once: the same id may be queued again while it is worked on (its batch
 * vanished from Redis), or after. It is harmless because the consumer leaves out ids that it has in hand, and
 * because the use case looks at the record first: a message that is no longer pending is left alone. Nor
 * do ids pile up: the queue takes an id once until it is done, and so many at most.
 *
 * Nothing starves: the index is walked oldest first, whatever is older than an entry is queued or done, so
 * each entry comes into the first page in the end.
 */
export interface ReconcilerOptions<Position> {
  /** Due entries, oldest first, from behind `after`. */
  readonly listPending: (
    limit: number,
    after?: Position,
  ) => PendingPage<Position> | Promise<PendingPage<Position>>;
  readonly queue: ReconciledQueue;
  readonly log: Logger;
  readonly intervalMs?: number;
  readonly pageSize?: number;
}

export interface PendingPage<Position> {
  readonly ids: readonly MessageId[];
  /** Where the next page begins; null when this is the last. */
  readonly next: Position | null;
}

/** What the reconciler needs of a queue. */
export interface ReconciledQueue {
  readonly isReady: boolean;
  /** Compares its memory with Redis: what Redis lost is not queued. */
  forgetLost(): Promise<void>;
  /** Resolves when the ids are queued; says how many were not before, and whether some found no room. */
  add(ids: readonly MessageId[]): Promise<{ readonly added: number; readonly isFull: boolean }>;
  /** Calls back when ids can be added that could not before. */
  onReady(listener: () => void): () => void;
}

const FIRST_RETRY_MS = 1_000;

type Scope = 'everything' | 'while-missing';

export class Reconciler<Position> {
  readonly #options: Required<ReconcilerOptions<Position>>;
  #wanted: Scope | undefined;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;
  #failures = 0;
  #isStopped = false;

  constructor(options: ReconcilerOptions<Position>) {
    this.#options = { intervalMs: 30_000, pageSize: 1_000, ...options };
  }

  start(): void {
    if (this.#unsubscribe !== undefined || this.#isStopped) return;
    this.#unsubscribe = this.#options.queue.onReady(() => this.#request('everything'));
    this.#request('everything');
  }

  /** Looks now instead of at the next interval; resolves when nothing is left to look at. */
  async runNow(): Promise<void> {
    this.#request('while-missing');
    await this.#running;
  }

  /** Ends after the page in hand. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** One run at a time; a request during a run is served by another run after it. */
  #request(scope: Scope): void {
    if (this.#isStopped) return;
    if (this.#wanted !== 'everything') this.#wanted = scope;
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // A request that came between the last look and now.
      if (this.#wanted !== undefined && this.#failures === 0) this.#request(this.#wanted);
      else this.#arm();
    });
  }

  async #run(): Promise<void> {
    while (this.#wanted !== undefined && !this.#isStopped) {
      const scope = this.#wanted;
      this.#wanted = undefined;
      // While Redis is away there is nobody to tell; its return asks for everything.
      if (!this.#options.queue.isReady) continue;
      try {
        await this.#walk(scope);
        this.#failures = 0;
      } catch (error) {
        if (!this.#options.queue.isReady) continue;
        this.#wanted = scope;
        this.#failures++;
        this.#options.log.warn(
          { reason: reasonOf(error) },
          'could not compare pending messages with the queue; will retry',
        );
        return;
      }
    }
  }

  async #walk(scope: Scope): Promise<void> {
    const { listPending, queue, pageSize, log } = this.#options;
    let after: Position | undefined;
    let queued = 0;
    await queue.forgetLost();
    for (;;) {
      const page = await (after === undefined ? listPending(pageSize) : listPending(pageSize, after));
      const { added, isFull } = await queue.add(page.ids);
      queued += added;
      const isDone = page.next === null || isFull || (scope === 'while-missing' && added === 0);
      if (isDone || this.#isStopped) break;
      after = page.next;
    }
    if (queued > 0) log.info({ messages: queued }, 'queued pending messages that were missing from Redis');
  }

  #arm(): void {
    if (this.#isStopped) return;
    const { intervalMs } = this.#options;
    const delayMs =
      this.#failures === 0
        ? intervalMs
        : backOffMs(this.#failures - 1, { firstMs: FIRST_RETRY_MS, longestMs: intervalMs });
    this.#timer = setTimeout(() => this.#request(this.#wanted ?? 'while-missing'), delayMs);
  }
}
