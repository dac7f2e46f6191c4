import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { MessageId } from '../domain/ids.js';
import { reasonOf } from '../lib/async.js';
import type { Logger, WorkQueue } from '../usecases/ports.js';
import { connectRedis, isConnectionError, type RedisSpace } from './connection.js';

/** Redis is away: nothing was queued, and the reconciler will see to it when Redis is back. */
class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

/** Ids in a job at most. A job costs Redis and BullMQ the same, however many it carries. */
const MAX_JOB_IDS = 64;

export interface BullWorkQueueOptions {
  /** Name of the queue: what is done with the messages in it. */
  readonly name: string;
  readonly redis: RedisSpace;
  readonly log: Logger;
  /** How many ids may be queued; more are left to the reconciler. */
  readonly maxQueued?: number;
  /** While others are worked on, ids that come within so long travel together; 0: those of one event turn. */
  readonly gatherMs?: number;
}

interface Batch {
  /** Of its job. */
  readonly name: string;
  /** Those that are still to be done. */
  readonly ids: Set<MessageId>;
  /** Redis has confirmed it. */
  isSent: boolean;
}

/**
 * The producer's side of a queue. A job is a batch of message ids and nothing else.
 *
 * It keeps in memory which ids are queued, so that an id is queued once at most, however often it is
 * offered, until `done` is said of it. Memory may err in one way only: Redis loses a batch. `forgetLost`
 * finds that out.
 *
 * One process feeds and empties a queue. What an earlier one left in Redis is thrown away at the first
 * connection: its active jobs hold locks that nobody renews. The reconciler fills the queue again.
 */
export class BullWorkQueue implements WorkQueue {
  readonly #options: Required<BullWorkQueueOptions>;
  /** Every id that is queued, by its batch; null while it is gathered. */
  readonly #queued = new Map<MessageId, Batch | null>();
  readonly #gathered: MessageId[] = [];
  /** Those that are not done. */
  readonly #batches = new Set<Batch>();
  readonly #readyListeners = new Set<() => void>();
  #redis: Redis | undefined;
  #queue: Queue | undefined;
  #lastBatch = 0;
  #isSendPlanned = false;
  #isReady = false;
  #isCleared = false;
  #isFull = false;
  #isComplaining = false;
  #isClosed = false;
  #dropped = 0;

  constructor(options: BullWorkQueueOptions) {
    this.#options = { maxQueued: 20_000, gatherMs: 10, ...options };
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

  /** Ids that are on their way to Redis, in it, or worked on. */
  get size(): number {
    return this.#queued.size;
  }

  /** Offers dropped so far, because Redis was away or too many were queued. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Calls back each time ids can be added that could not before: Redis is connected, or willing after
   * refusals, or there is room again. Returns how to stop that.
   */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  offer(ids: readonly MessageId[]): void {
    for (const id of ids) {
      if (this.#queued.has(id)) continue;
      if (!this.#isReady || !this.#hasRoom()) {
        this.#dropped++;
        continue;
      }
      this.#queued.set(id, null);
      this.#gathered.push(id);
    }
    if (this.#gathered.length >= MAX_JOB_IDS) this.#sendGathered();
    else if (this.#gathered.length > 0) this.#planSend();
  }

  /**
   * Queues those of the ids that are not queued, as far as there is room, and waits until Redis has them.
   * Rejects when Redis is away or refuses.
   */
  async add(ids: readonly MessageId[]): Promise<{ readonly added: number; readonly isFull: boolean }> {
    this.#whenReady();
    const added: MessageId[] = [];
    for (const id of ids) {
      if (this.#queued.has(id)) continue;
      if (!this.#hasRoom()) break;
      this.#queued.set(id, null);
      added.push(id);
    }
    const isFull = added.length < ids.length && !this.#hasRoom();
    const sends: Promise<void>[] = [];
    for (let from = 0; from < added.length; from += MAX_JOB_IDS) {
      sends.push(this.#send(added.slice(from, from + MAX_JOB_IDS)));
    }
    await Promise.all(sends);
    return { added: added.length, isFull };
  }

  /** The id has been worked on: whoever offers it again means it. */
  done(id: MessageId): void {
    const batch = this.#queued.get(id);
    this.#queued.delete(id);
    if (batch?.ids.delete(id) && batch.ids.size === 0) this.#batches.delete(batch);
    if (!this.#isFull || this.#queued.size > this.#options.maxQueued / 2) return;
    this.#isFull = false;
    this.#announce();
  }

  /** Asks Redis for every batch that is not done, and takes the ids of those that it lost as not queued. */
  async forgetLost(): Promise<void> {
    const { redis, queue } = this.#whenReady();
    const sent = [...this.#batches].filter(batch => batch.isSent);
    const keys = sent.map(({ name }) => queue.toKey(name));
    if (keys.length === 0) return;
    if ((await redis.exists(keys)) === keys.length) return;
    const replies = await redis.pipeline(keys.map(key => ['exists', key])).exec();
    for (const [at, batch] of sent.entries()) if (replies?.[at]?.[1] === 0) this.#forget(batch);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReady = false;
    this.#readyListeners.clear();
    this.#redis?.disconnect();
    await this.#queue?.close().catch(() => undefined);
  }

  #hasRoom(): boolean {
    if (this.#queued.size < this.#options.maxQueued) return true;
    this.#isFull = true;
    return false;
  }

  #whenReady(): { redis: Redis; queue: Queue } {
    if (!this.#isReady || this.#redis === undefined || this.#queue === undefined) {
      throw new QueueUnavailableError('Redis is not connected');
    }
    return { redis: this.#redis, queue: this.#queue };
  }

  async #becomeReady(redis: Redis): Promise<void> {
    try {
      // Made here and not in start(): BullMQ keeps a failure of its first contact for ever.
      this.#queue ??= this.#createQueue(redis);
      if (!this.#isCleared) {
        await this.#queue.obliterate({ force: true });
        this.#isCleared = true;
      }
    } catch (error) {
      this.#complain(error);
      // Connected but unable: a new connection is a new try, with the connection's back-off.
      if (!this.#isClosed && redis.status === 'ready')
        setTimeout(() => redis.disconnect(true), 1_000).unref();
      return;
    }
    if (this.#isClosed || redis.status !== 'ready') return;
    this.#isReady = true;
    this.#announce();
  }

  /** Ids can be added (again): what was dropped meanwhile, too. */
  #announce(): void {
    this.#isComplaining = false;
    for (const listener of [...this.#readyListeners]) listener();
  }

  #createQueue(redis: Redis): Queue {
    const queue = new Queue(this.#options.name, {
      connection: redis,
      prefix: this.#options.redis.prefix,
      skipVersionCheck: true,
      // Nobody reads BullMQ's event stream; its default of 10,000 entries is memory for nothing.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
    });
    queue.on('error', error => this.#complain(error));
    return queue;
  }

  /** At once when nothing else is under way, so that a single message does not wait. */
  #planSend(): void {
    if (this.#isSendPlanned) return;
    this.#isSendPlanned = true;
    const send = (): void => {
      this.#isSendPlanned = false;
      this.#sendGathered();
    };
    const { gatherMs } = this.#options;
    if (gatherMs === 0 || this.#batches.size === 0) setImmediate(send);
    else setTimeout(send, gatherMs);
  }

  #sendGathered(): void {
    while (this.#gathered.length > 0) {
      const ids = this.#gathered.splice(0, MAX_JOB_IDS);
      void this.#send(ids).then(
        () => {
          if (this.#isComplaining) this.#announce();
        },
        (error: unknown) => {
          this.#dropped += ids.length;
          this.#complain(error);
        },
      );
    }
  }

  async #send(ids: readonly MessageId[]): Promise<void> {
    const batch: Batch = { name: `b${++this.#lastBatch}`, ids: new Set(ids), isSent: false };
    this.#batches.add(batch);
    for (const id of ids) this.#queued.set(id, batch);
    try {
      await this.#whenReady().queue.add(this.#options.name, ids, { jobId: batch.name });
      batch.isSent = true;
    } catch (error) {
      this.#forget(batch);
      throw error;
    }
  }

  #forget(batch: Batch): void {
    this.#batches.delete(batch);
    for (const id of batch.ids) if (this.#queued.get(id) === batch) this.#queued.delete(id);
  }

  /** Says once that Redis refuses; the connection itself reports its outages. */
  #complain(error: unknown): void {
    if (this.#isClosed || this.#isComplaining) return;
    if (isConnectionError(error) || error instanceof QueueUnavailableError) return;
    this.#isComplaining = true;
    const { log, name } = this.#options;
    log.warn(
      { queue: name, reason: reasonOf(error) },
      'Redis does not take messages to work on; they wait in the store',
    );
  }
}
