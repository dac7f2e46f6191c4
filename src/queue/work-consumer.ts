import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { type MessageId, toId } from '../domain/ids.js';
import { reasonOf, Semaphore, settledWithin } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';
import { connectRedis, isConnectionError, isDamageError, type RedisSpace } from './connection.js';

export interface WorkConsumerOptions {
  /** Name of the queue. */
  readonly name: string;
  readonly redis: RedisSpace;
  readonly log: Logger;
  /** How many ids are worked on at once. */
  readonly concurrency: number;
  /**
   * Batches in flight at once. A batch ends only with its slowest message, so there are more batches than are needed
   * to fill `concurrency`.
   */
  readonly batches?: number;
  /** Must this id be worked on while no other id is? */
  readonly isAlone?: (id: MessageId) => boolean;
  /** Does the work of one id. May be called again for an id that is done, which must do no harm. */
  readonly handler: (id: MessageId) => Promise<void>;
  /** The handler of the id has ended, well or badly. */
  readonly onDone?: (id: MessageId) => void;
  /** The keys of the queue hold what nobody put there by way of us. */
  readonly onDamage?: () => void;
  /** How long `close` waits for handlers. */
  readonly closeTimeoutMs?: number;
}

/**
 * A timer renews the locks of running jobs, and the event loop is never blocked for long. So this says how soon a lost
 * job is handed out again, not how long a message may take.
 */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** Attempts are counted in the store, where a flush of Redis does not forget them. */
const ANY_NUMBER_OF_STALLS = 1_000_000;
/** By default one batch in flight for so many ids of `concurrency`, although a full batch has 64: see `batches`. */
const SLOTS_PER_BATCH = 8;
/** How long the worker pauses after Redis refused a command. */
const REST_MS = 1_000;
/** For BullMQ's own shutdown, once the handlers are done. */
const FAREWELL_MS = 2_000;

/**
 * The consumer's side of a queue. Whatever happens to Redis, an id is never in two handlers of this process at once:
 * an id that is in flight already, and was queued again after a flush or a lost lock, is skipped. A batch ends when
 * its last id has ended.
 */
export class WorkConsumer {
  readonly #options: Required<WorkConsumerOptions>;
  readonly #slots: Semaphore;
  readonly #inFlight = new Map<MessageId, Promise<void>>();
  readonly #connections: Redis[] = [];
  #worker: Worker | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  #isComplaining = false;
  #isClosing = false;

  constructor(options: WorkConsumerOptions) {
    this.#options = {
      closeTimeoutMs: 10_000,
      isAlone: () => false,
      onDone: () => undefined,
      onDamage: () => undefined,
      batches: Math.ceil(options.concurrency / SLOTS_PER_BATCH),
      ...options,
    };
    this.#slots = new Semaphore(options.concurrency);
  }

  /** Begins to work as soon as Redis is there; never throws for an absent Redis. */
  start(): void {
    if (this.#worker !== undefined || this.#isClosing) return;
    const worker = new Worker(this.#options.name, job => this.#process(job), {
      connection: this.#connect(),
      prefix: this.#options.redis.prefix,
      concurrency: this.#options.batches,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: ANY_NUMBER_OF_STALLS,
      runRetryDelay: REST_MS,
      skipVersionCheck: true,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker = worker;
    worker.on('error', error => this.#hear(worker, error));
    worker.on('completed', () => {
      this.#isComplaining = false;
    });
  }

  /**
   * Begins no more work, and waits up to `closeTimeoutMs` for the handlers. Work that was not finished is still
   * pending in the store; its job is discarded at the next start.
   */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    clearTimeout(this.#restTimer);
    const worker = this.#worker;
    if (worker === undefined) return;
    await settledWithin(FAREWELL_MS, [worker.pause(true)]);
    const isIdle = await settledWithin(this.#options.closeTimeoutMs, this.#inFlight.values());
    if (!isIdle) {
      const { log, name } = this.#options;
      log.warn({ queue: name, messages: this.#slots.taken }, 'stopping while messages are worked on');
    }
    // An orderly close marks the jobs as done. That needs Redis, for which BullMQ would wait for ever.
    const isOrderly = isIdle && this.#connections.every(connection => connection.status === 'ready');
    await settledWithin(FAREWELL_MS, [worker.close(!isOrderly)]);
    for (const connection of this.#connections) connection.disconnect();
  }

  /**
   * Begins work on an id at once, without the queue in Redis. Should the queue hand out the id too, it is skipped while
   * it is in flight.
   * @returns false if there is no room, the id must be worked on alone, or it is in flight already: then the id has
   *   to go through the queue
   */
  takeNow(id: MessageId): boolean {
    const { concurrency, isAlone } = this.#options;
    const hasRoom = this.#worker !== undefined && !this.#isClosing && this.#slots.taken < concurrency;
    if (!hasRoom || isAlone(id) || this.#inFlight.has(id)) return false;
    this.#inFlight.set(id, this.#take(id));
    return true;
  }

  #connect(): Redis {
    const redis = connectRedis(this.#options.redis.address, 'worker', this.#options.log);
    this.#connections.push(redis);
    // BullMQ duplicates the connection for its blocking command. We keep the copy to be able to close it.
    const duplicate = redis.duplicate.bind(redis);
    redis.duplicate = override => {
      const copy = duplicate(override);
      copy.on('error', () => undefined);
      this.#connections.push(copy);
      return copy;
    };
    return redis;
  }

  async #process(job: Job): Promise<void> {
    if (this.#isClosing) return;
    const ids = idsOf(job).filter(id => !this.#inFlight.has(id));
    const work = ids.map(id => this.#take(id));
    for (const [at, promise] of work.entries()) this.#inFlight.set(ids[at] as MessageId, promise);
    await Promise.all(work);
  }

  async #take(id: MessageId): Promise<void> {
    const { isAlone, onDone } = this.#options;
    try {
      await this.#slots.use(() => this.#handle(id), isAlone(id));
    } finally {
      this.#inFlight.delete(id);
      onDone(id);
    }
  }

  /** A failure does not fail the job: the job ends, and the reconciler queues the id again. */
  async #handle(id: MessageId): Promise<void> {
    if (this.#isClosing) return;
    try {
      await this.#options.handler(id);
    } catch (error) {
      this.#options.log.error(
        { messageId: id, reason: reasonOf(error) },
        'a message could not be worked on; it stays pending',
      );
    }
  }

  #hear(worker: Worker, error: Error): void {
    if (this.#isClosing || isConnectionError(error)) return;
    const { log, name } = this.#options;
    if (/\block\b|missing key for job|job .* is not in the active state/i.test(error.message)) {
      // Redis was flushed or restarted while the job ran. The store knows how it ended.
      log.debug({ reason: error.message }, 'a job vanished from Redis while it was worked on');
      return;
    }
    if (isDamageError(error)) this.#options.onDamage();
    else if (!this.#isComplaining) {
      log.warn({ queue: name, reason: error.message }, 'Redis refuses to hand out messages to work on');
    }
    this.#isComplaining = true;
    this.#rest(worker);
  }

  /** Without a pause BullMQ retries as fast as Redis can refuse (out of memory, disk full). */
  #rest(worker: Worker): void {
    if (this.#restTimer !== undefined) return;
    void worker.pause(true);
    this.#restTimer = setTimeout(() => {
      this.#restTimer = undefined;
      if (!this.#isClosing) void worker.resume();
    }, REST_MS);
  }
}

function idsOf(job: Job): MessageId[] {
  const ids: unknown = job.data;
  return Array.isArray(ids) ? ids.flatMap(id => toId<MessageId>(`${id}`) ?? []) : [];
}
