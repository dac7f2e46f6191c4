import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { reasonOf } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';
import { connectRedis, isConnectionError, isDamageError, type RedisSpace } from './connection.js';
import { Delays } from './delays.js';
import { QueueShares } from './queue-shares.js';
import type { ReconciledQueue, Scope } from './reconciler.js';
import type { Lane, WorkId } from './work-places.js';

/** Redis is away: nothing was queued. The reconciler queues it when Redis is back. */
class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

/** How long a damaged queue rests before it is filled anew: what damaged it may go on. */
const REBUILD_MS = 1_000;
/** Most ids in one job. A job costs Redis and BullMQ the same, however many ids it has. */
const MAX_JOB_IDS = 64;

export interface BullWorkQueueOptions {
  /** Name of the queue: what is done with the messages in it. */
  readonly name: string;
  readonly redis: RedisSpace;
  readonly log: Logger;
  laneOf(id: WorkId): Lane;
  /** How many ids may be queued at once (`queue-shares.ts` says whose); more are left to the reconciler. */
  readonly maxQueued?: number;
  /**
   * How long offered ids are gathered into one batch while others are queued; 0: until the end of the event turn.
   */
  readonly gatherMs?: number;
}

/** A job that was not taken yet. */
interface Batch {
  readonly ids: readonly WorkId[];
  /** Has Redis confirmed it? */
  isSent: boolean;
}

/** An id, and where it waits for its turn. */
export interface Offer {
  readonly id: WorkId;
  readonly lane: Lane;
}

/**
 * The producer's side of a queue. A job is a batch of message ids and nothing else: whose turn it is is decided by the
 * consumer, which takes over a job as soon as it is there.
 *
 * It remembers which ids are queued, so that an id is queued only once until `done` is called for it, however often
 * it is offered. This memory can be wrong in one way only: Redis lost a batch before it was taken. `forgetLost` finds
 * such batches.
 *
 * One process alone fills and empties a queue. Jobs that an earlier process left in Redis are deleted at the first
 * connection, because nobody renews the locks of its active jobs. So are all keys when one of them turns out to hold
 * what we never put there. The reconciler fills the queue again.
 */
export class BullWorkQueue implements ReconciledQueue {
  readonly #options: Required<BullWorkQueueOptions>;
  /** Every id on its way to Redis, in Redis, waiting for its turn, or in flight. */
  readonly #queued = new Map<WorkId, Lane>();
  readonly #shares: QueueShares;
  readonly #delays: Delays;
  /** Ids that wait to be sent to Redis as a batch. */
  readonly #gathered: WorkId[] = [];
  /** By the id of the job in Redis. */
  readonly #batches = new Map<string, Batch>();
  readonly #readyListeners = new Set<(scope: Scope) => void>();
  #redis: Redis | undefined;
  #queue: Queue | undefined;
  #lastBatch = 0;
  #isSendPlanned = false;
  #isReady = false;
  #isCleared = false;
  #clearing: Promise<void> | undefined;
  #isComplaining = false;
  #isClosed = false;
  #dropped = 0;

  constructor(options: BullWorkQueueOptions) {
    this.#options = { maxQueued: 20_000, gatherMs: 10, ...options };
    this.#shares = new QueueShares(this.#options.maxQueued);
    this.#delays = new Delays(this.#options.maxQueued);
  }

  /** Connects in the background and stays connected; never throws for an absent Redis. */
  start(): void {
    if (this.#redis !== undefined || this.#isClosed) return;
    const redis = connectRedis(this.#options.redis.address, 'producer', this.#options.log);
    this.#redis = redis;
    redis.on('ready', () => void this.#becomeReady(redis));
    redis.on('close', () => {
      this.#isReady = false;
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** How many ids are on their way to Redis, in Redis, waiting for their turn, or in flight. */
  get size(): number {
    return this.#queued.size;
  }

  /** How many offers were dropped so far, because Redis was away or the queue was full. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Where a queued id waits for its turn. */
  laneOf(id: WorkId): Lane | undefined {
    return this.#queued.get(id);
  }

  /**
   * Calls `listener` each time ids can be added that could not before: Redis is connected, or accepts again after
   * refusals (`everything`), or there is room again in shares that were full (`room`). Returns how to unsubscribe.
   */
  onReady(listener: (scope: Scope) => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  offer(offers: readonly Offer[]): void {
    for (const { id, lane } of offers) {
      if (this.#queued.has(id)) continue;
      if (this.#isReady && this.#enter(id, lane)) this.#gathered.push(id);
      else this.#dropped++;
    }
    if (this.#gathered.length >= MAX_JOB_IDS) this.#sendGathered();
    else if (this.#gathered.length > 0) this.#planSend();
  }

  /**
   * Queues the ids that are not queued yet, as far as there is room, and waits until Redis has confirmed them.
   * Rejects with `QueueUnavailableError` when Redis is away, or with the error with which Redis refuses.
   */
  async add(ids: readonly WorkId[]): ReturnType<ReconciledQueue['add']> {
    this.#requireReady();
    const missing = ids.filter(id => !this.#queued.has(id));
    const added = missing.filter(id => !this.#shares.isFull && this.#enter(id, this.#options.laneOf(id)));
    const sends: Promise<void>[] = [];
    for (let from = 0; from < added.length; from += MAX_JOB_IDS) {
      sends.push(this.#send(added.slice(from, from + MAX_JOB_IDS)));
    }
    await Promise.all(sends);
    const { isFull, isRefilled } = this.#shares;
    return { added: added.length, isFull: isFull && added.length < missing.length, isRefilled };
  }

  /** The id is to be worked on after this time; it is not queued until then. Never waits, and may be lost. */
  later(id: WorkId, delayMs: number): void {
    if (!this.#isReady || this.#queue === undefined) return;
    const jobId = this.#delays.enter(id, delayMs);
    if (jobId === null) return;
    this.#queue
      .add(this.#options.name, [id], { jobId, delay: Math.ceil(delayMs) })
      .catch((error: unknown) => {
        this.#delays.leave(jobId);
        this.#complain(error);
      });
  }

  /** The ids of a job have been taken from Redis. */
  taken(job: string): void {
    this.#batches.delete(job);
    this.#delays.leave(job);
  }

  /** The work of the id has ended: from now on it may be queued again. */
  done(id: WorkId): void {
    const lane = this.#queued.get(id);
    if (lane === undefined) return;
    this.#queued.delete(id);
    if (this.#shares.leave(lane)) this.#announce('room');
  }

  /** Asks Redis for every batch that was not taken. Ids of lost batches count as not queued from then on. */
  async forgetLost(): Promise<void> {
    const { redis, queue } = this.#requireReady();
    const sent = [...this.#batches].filter(([, batch]) => batch.isSent).map(([name]) => name);
    const keys = sent.map(name => queue.toKey(name));
    if (keys.length === 0) return;
    if ((await redis.exists(keys)) === keys.length) return;
    const replies = await redis.pipeline(keys.map(key => ['exists', key])).exec();
    for (const [at, name] of sent.entries()) if (replies?.[at]?.[1] === 0) this.#forget(name);
  }

  /**
   * Throws away all that this queue has in Redis, and has it filled again from the store: somebody has written to its
   * keys, and every command would fail for ever. At most once in `REBUILD_MS`. Never throws.
   */
  rebuild(): void {
    const redis = this.#redis;
    if (this.#isClosed || redis === undefined || this.#clearing !== undefined) return;
    const { log, name } = this.#options;
    log.warn({ queue: name }, 'keys of the queue in Redis are damaged; it is filled anew from the store');
    this.#isReady = false;
    this.#isCleared = false;
    this.#clearing = setTimeoutPromise(REBUILD_MS, undefined, { ref: false }).then(async () => {
      this.#clearing = undefined;
      if (redis.status === 'ready') await this.#becomeReady(redis);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReady = false;
    this.#readyListeners.clear();
    this.#redis?.disconnect();
    await this.#queue?.close().catch(() => undefined);
  }

  /** Remembers an id as queued, if there is room for it. */
  #enter(id: WorkId, lane: Lane): boolean {
    if (!this.#shares.enter(lane)) return false;
    this.#queued.set(id, lane);
    return true;
  }

  #requireReady(): { redis: Redis; queue: Queue } {
    if (!this.#isReady || this.#redis === undefined || this.#queue === undefined) {
      throw new QueueUnavailableError('Redis is not connected');
    }
    return { redis: this.#redis, queue: this.#queue };
  }

  async #becomeReady(redis: Redis): Promise<void> {
    try {
      // Created here and not in start(): BullMQ never forgets that its first contact with Redis failed.
      this.#queue ??= this.#createQueue(redis);
      if (!this.#isCleared) {
        await this.#throwAway(redis);
        this.#isCleared = true;
      }
    } catch (error) {
      this.#complain(error);
      // Redis is connected but refuses. Reconnecting is a new try, with the connection's back-off.
      if (!this.#isClosed && redis.status === 'ready') {
        setTimeout(() => redis.disconnect(true), 1_000).unref();
      }
      return;
    }
    if (this.#isClosed || redis.status !== 'ready') return;
    this.#isReady = true;
    this.#announce('everything');
  }

  /** Deletes every key of this queue, whatever it holds, and forgets what was queued. */
  async #throwAway(redis: Redis): Promise<void> {
    const pattern = `${this.#options.redis.prefix}:${this.#options.name}:*`;
    for await (const keys of redis.scanStream({ match: pattern, count: 1_000 }) as AsyncIterable<string[]>) {
      if (keys.length > 0) await redis.unlink(keys);
    }
    for (const name of [...this.#batches.keys()]) this.#forget(name);
    this.#delays.clear();
  }

  /** Tells the listeners that ids can be added again, those that were dropped meanwhile included. */
  #announce(scope: Scope): void {
    if (scope === 'everything') this.#isComplaining = false;
    for (const listener of [...this.#readyListeners]) listener(scope);
  }

  #createQueue(redis: Redis): Queue {
    const queue = new Queue(this.#options.name, {
      connection: redis,
      prefix: this.#options.redis.prefix,
      skipVersionCheck: true,
      // Nobody reads BullMQ's event stream; its default of 10,000 entries would waste memory.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
    });
    queue.on('error', error => this.#complain(error));
    return queue;
  }

  /** Sends at the end of the event turn when nothing else is queued, so that a single message does not wait. */
  #planSend(): void {
    if (this.#isSendPlanned) return;
    this.#isSendPlanned = true;
    const send = (): void => {
      this.#isSendPlanned = false;
      this.#sendGathered();
    };
    const { gatherMs } = this.#options;
    if (gatherMs === 0 || this.#queued.size === this.#gathered.length) setImmediate(send);
    else setTimeout(send, gatherMs);
  }

  #sendGathered(): void {
    while (this.#gathered.length > 0) {
      const ids = this.#gathered.splice(0, MAX_JOB_IDS);
      void this.#send(ids).then(
        () => {
          if (this.#isComplaining) this.#announce('everything');
        },
        (error: unknown) => {
          this.#dropped += ids.length;
          this.#complain(error);
        },
      );
    }
  }

  async #send(ids: readonly WorkId[]): Promise<void> {
    const name = `b${++this.#lastBatch}`;
    const batch: Batch = { ids, isSent: false };
    this.#batches.set(name, batch);
    try {
      await this.#requireReady().queue.add(this.#options.name, ids, { jobId: name });
      batch.isSent = true;
    } catch (error) {
      this.#forget(name);
      throw error;
    }
  }

  /** Redis does not have the batch: its ids are not queued. */
  #forget(name: string): void {
    const ids = this.#batches.get(name)?.ids ?? [];
    this.#batches.delete(name);
    for (const id of ids) this.done(id);
  }

  /** Logs once that Redis refuses. Outages are logged by the connection itself. */
  #complain(error: unknown): void {
    if (this.#isClosed || this.#isComplaining) return;
    if (isDamageError(error)) this.rebuild();
    if (isDamageError(error) || isConnectionError(error) || error instanceof QueueUnavailableError) return;
    this.#isComplaining = true;
    const { log, name } = this.#options;
    log.warn(
      { queue: name, reason: reasonOf(error) },
      'Redis does not take messages to work on; they wait in the store',
    );
  }
}
