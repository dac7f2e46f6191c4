import { backOffMs, reasonOf } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';
import type { WorkId } from './work-places.js';

/**
 * Why a message that was acknowledged is always parsed, and a send that was taken is always attempted.
 *
 * The commit that makes work necessary also writes an entry into the store's pending index. The commit that
 * completes the work removes the entry. In between, the id travels through a queue that may lose it: an offer is
 * dropped while Redis is away, Redis loses its last second when it is killed, somebody flushes Redis, the process
 * ends. The reconciler compares the pending index with the queue and queues what is missing. At the start of each
 * run, the queue first compares its memory with Redis, one batch after the other. Then the reconciler walks the index:
 *
 * - All due entries, as far as the queue has room: at the start, and whenever Redis comes back.
 * - Those for which the queue had no room, when it has some again: until it has none for any of them.
 * - The oldest page of entries, every `intervalMs`. If one of them was missing from the queue, it goes on page by
 *   page until nothing of a page was missing. So the next run repairs an unnoticed flush of Redis, however long the
 *   backlog is. Then some pages from where the last run ended, and from the oldest again after the last: so an entry
 *   behind a backlog that does not move is met too.
 *
 * Work is therefore done *at least* once: an id may be queued again during its work (Redis lost the batch) or after
 * it. That is harmless: the consumer skips ids that are in flight, and the use case reads the record first and
 * leaves alone what is no longer pending. Ids do not pile up: the queue holds each id once, and `maxQueued` in all.
 *
 * No entry starves: no lane can fill the queue alone (`queue-shares.ts`), and every entry is met in the end.
 */
export interface ReconcilerOptions<Position> {
  /** Due entries, oldest first: those after the position `after`, at most `limit`. */
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
  readonly ids: readonly WorkId[];
  /** The position to pass as `after` for the next page; null for the last page. */
  readonly next: Position | null;
}

/** What the reconciler needs from a queue. */
export interface ReconciledQueue {
  readonly isReady: boolean;
  /** Compares the queue's memory with Redis; ids that Redis lost count as not queued from then on. */
  forgetLost(): Promise<void>;
  /** Resolves when the ids are queued, as far as there is room. */
  add(ids: readonly WorkId[]): Promise<{
    /** How many were not queued before. */
    readonly added: number;
    /** Some were not queued, and there is no room for any id. */
    readonly isFull: boolean;
    /** What asked for this run by `room` has no room any more. */
    readonly isRefilled: boolean;
  }>;
  /** Calls `listener` each time ids can be added that could not before. Returns how to unsubscribe. */
  onReady(listener: (scope: Scope) => void): () => void;
}

const FIRST_RETRY_MS = 1_000;
/** Pages of a periodic run besides the oldest ones. */
const MORE_PAGES = 10;

/** How far a run goes, the widest first. */
const SCOPES = ['everything', 'room', 'while-missing'] as const;
export type Scope = (typeof SCOPES)[number];

/** Compares pending work with a queue; the comment on `ReconcilerOptions` says when and why. */
export class Reconciler<Position> {
  readonly #options: Required<ReconcilerOptions<Position>>;
  #wanted: Scope | undefined;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;
  /** Where the next periodic run goes on. */
  #goOnAfter: Position | undefined;
  /** A run over everything ended because the queue was full: when there is room, it is done again. */
  #isUnfinished = false;
  #failures = 0;
  #isStopped = false;

  constructor(options: ReconcilerOptions<Position>) {
    this.#options = { intervalMs: 30_000, pageSize: 500, ...options };
  }

  start(): void {
    if (this.#unsubscribe !== undefined || this.#isStopped) return;
    this.#unsubscribe = this.#options.queue.onReady(scope =>
      this.#request(this.#isUnfinished ? 'everything' : scope),
    );
    this.#request('everything');
  }

  /** Starts a run now instead of after the interval. Resolves when it is complete. */
  async runNow(): Promise<void> {
    this.#request('while-missing');
    await this.#running;
  }

  /** Resolves when the current page is done. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** One run at a time. A request during a run leads to another run after it. */
  #request(scope: Scope): void {
    if (this.#isStopped) return;
    this.#wanted = SCOPES.find(one => one === scope || one === this.#wanted) ?? scope;
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // A request that came after the loop of #run had ended.
      if (this.#wanted !== undefined && this.#failures === 0) this.#request(this.#wanted);
      else this.#arm();
    });
  }

  async #run(): Promise<void> {
    while (this.#wanted !== undefined && !this.#isStopped) {
      const scope = this.#wanted;
      this.#wanted = undefined;
      // Nothing can be queued while Redis is away. Its return requests a run over everything.
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
    const { queue, log } = this.#options;
    await queue.forgetLost();
    const { queued } = await this.#pages(undefined, ({ added, isFull, isRefilled }) => {
      if (scope === 'everything') this.#isUnfinished = isFull;
      return isFull || (scope === 'room' && isRefilled) || (scope === 'while-missing' && added === 0);
    });
    const more = scope === 'while-missing' ? await this.#walkOn() : 0;
    const messages = queued + more;
    if (messages > 0) log.info({ messages }, 'queued pending messages that were missing from Redis');
  }

  /** Some pages more, from where it ended the last time. */
  async #walkOn(): Promise<number> {
    let left = MORE_PAGES;
    const { queued, next } = await this.#pages(this.#goOnAfter, ({ isFull }) => --left === 0 || isFull);
    this.#goOnAfter = next ?? undefined;
    return queued;
  }

  /** Queues page after page, until one is the last or enough. */
  async #pages(
    from: Position | undefined,
    isEnough: (page: Awaited<ReturnType<ReconciledQueue['add']>>) => boolean,
  ): Promise<{ readonly queued: number; readonly next: Position | null }> {
    const { listPending, queue, pageSize } = this.#options;
    let after = from;
    for (let queued = 0; ; ) {
      const page = await (after === undefined ? listPending(pageSize) : listPending(pageSize, after));
      const result = await queue.add(page.ids);
      queued += result.added;
      if (isEnough(result) || page.next === null || this.#isStopped) return { queued, next: page.next };
      after = page.next;
    }
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
