import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { MessageId } from '../domain/ids.js';
import type { Logger, ParseQueue } from '../usecases/ports.js';
import { connectRedis, isConnectionError } from './connection.js';
import type { RedisAddress } from './redis-address.js';

/** Redis is away: nothing was queued, and the reconciler will see to it when Redis is back. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

export const PARSE_QUEUE_NAME = 'parse';
export const DEFAULT_PREFIX = 'postern';

export interface BullParseQueueOptions {
  readonly address: RedisAddress;
  readonly log: Logger;
  /** Of every Redis key; two appliances on one Redis need two. */
  readonly prefix?: string;
  /** How many offered ids may wait for Redis to take them; more are dropped. */
  readonly maxUnsent?: number;
}

/** Ids in one command pipeline: about 20 ms of Redis. */
const BATCH = 500;

/**
 * The producer's side of the parse queue. A job is a message id and nothing else: the id is the job id, so
 * an id is queued at most once, and jobs are removed when they end, so that an ended one never blocks its
 * id.
 *
 * What an earlier process left in Redis is thrown away at the first connection: its active jobs hold locks
 * that nobody renews and would block their ids until these expire. The reconciler fills the queue again.
 */
export class BullParseQueue implements ParseQueue {
  readonly #options: Required<BullParseQueueOptions>;
  readonly #unsent = new Set<MessageId>();
  readonly #readyListeners = new Set<() => void>();
  #redis: Redis | undefined;
  #queue: Queue | undefined;
  #isReady = false;
  #isCleared = false;
  #isFlushing = false;
  #isComplaining = false;
  #isClosed = false;
  #dropped = 0;

  constructor(options: BullParseQueueOptions) {
    this.#options = { prefix: DEFAULT_PREFIX, maxUnsent: 10_000, ...options };
  }

  /** Connects in the background and stays connected; never throws for an absent Redis. */
  start(): void {
    if (this.#redis !== undefined || this.#isClosed) return;
    const redis = connectRedis(this.#options.address, 'producer', this.#options.log);
    this.#redis = redis;
    redis.on('ready', () => void this.#becomeReady(redis));
    redis.on('close', () => {
      this.#isReady = false;
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Offers dropped so far, because Redis was away or too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Calls back each time Redis becomes usable: connected, or willing after refusals. Returns how to stop that. */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  offer(ids: readonly MessageId[]): void {
    for (const id of ids) {
      if (this.#isReady && this.#unsent.size < this.#options.maxUnsent) this.#unsent.add(id);
      else this.#dropped++;
    }
    if (this.#isFlushing || this.#unsent.size === 0) return;
    this.#isFlushing = true;
    setImmediate(() => void this.#flush());
  }

  /**
   * Queues ids and waits until Redis has them. Returns how many were not in the queue before. Rejects when
   * Redis is away or refuses.
   */
  async add(ids: readonly MessageId[]): Promise<{ readonly missing: number }> {
    if (ids.length === 0) return { missing: 0 };
    const { redis, queue } = this.#whenReady();
    const queued = await redis.exists(ids.map(id => queue.toKey(id)));
    if (queued < ids.length) await this.#send(queue, ids);
    return { missing: ids.length - queued };
  }

  /** Jobs that wait or are worked on; null while Redis is away. */
  async depth(): Promise<number | null> {
    if (!this.#isReady) return null;
    try {
      const counts = await this.#whenReady().queue.getJobCounts(
        'waiting',
        'active',
        'prioritized',
        'delayed',
      );
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    } catch {
      return null;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReady = false;
    this.#dropped += this.#unsent.size;
    this.#unsent.clear();
    this.#readyListeners.clear();
    this.#redis?.disconnect();
    await this.#queue?.close().catch(() => undefined);
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

  /** Redis takes ids (again): what was dropped meanwhile can be added. */
  #announce(): void {
    this.#isComplaining = false;
    for (const listener of [...this.#readyListeners]) listener();
  }

  #createQueue(redis: Redis): Queue {
    const queue = new Queue(PARSE_QUEUE_NAME, {
      connection: redis,
      prefix: this.#options.prefix,
      skipVersionCheck: true,
      // Nobody reads BullMQ's event stream; its default of 10,000 entries is memory for nothing.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
    });
    queue.on('error', error => this.#complain(error));
    return queue;
  }

  async #flush(): Promise<void> {
    try {
      while (this.#unsent.size > 0) {
        const batch = this.#takeBatch();
        try {
          await this.#send(this.#whenReady().queue, batch);
          if (this.#isComplaining) this.#announce();
        } catch (error) {
          this.#dropped += batch.length + this.#unsent.size;
          this.#unsent.clear();
          this.#complain(error);
        }
      }
    } finally {
      this.#isFlushing = false;
    }
  }

  #takeBatch(): MessageId[] {
    const batch: MessageId[] = [];
    for (const id of this.#unsent) {
      batch.push(id);
      this.#unsent.delete(id);
      if (batch.length === BATCH) break;
    }
    return batch;
  }

  async #send(queue: Queue, ids: readonly MessageId[]): Promise<void> {
    for (let from = 0; from < ids.length; from += BATCH) {
      const batch = ids.slice(from, from + BATCH);
      await queue.addBulk(batch.map(id => ({ name: PARSE_QUEUE_NAME, data: null, opts: { jobId: id } })));
    }
  }

  /** Says once that Redis refuses; the connection itself reports its outages. */
  #complain(error: unknown): void {
    if (this.#isClosed || this.#isComplaining) return;
    if (isConnectionError(error) || error instanceof QueueUnavailableError) return;
    this.#isComplaining = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.log.warn({ reason }, 'Redis does not take messages to parse; they wait in the store');
  }
}
