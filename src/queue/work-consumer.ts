import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { toId } from '../domain/ids.js';
import { reasonOf, settledWithin } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';
import { connectRedis, isConnectionError, isDamageError, type RedisSpace } from './connection.js';
import { type Lane, type PlaceLimits, type Places, type WorkId, WorkPlaces } from './work-places.js';

export interface WorkConsumerOptions {
  /** Name of the queue. */
  readonly name: string;
  readonly redis: RedisSpace;
  readonly log: Logger;
  readonly places: Places;
  /** Without them a way's places go to whoever has a turn. */
  readonly limits?: PlaceLimits | null;
  laneOf(id: WorkId): Lane;
  /** Does the work of one id. May be called again for an id that is done, which must do no harm. */
  handler(id: WorkId): Promise<void>;
  /** The ids of a job have been taken from Redis: they wait for their turn here. */
  readonly onTaken?: (job: string) => void;
  /** The handler of the id has ended, well or badly. */
  onDone?(id: WorkId): void;
  /** The keys of the queue hold what nobody put there by way of us. */
  readonly onDamage?: () => void;
  /** How long `close` waits for handlers. */
  readonly closeTimeoutMs?: number;
}

/** A job is active while its ids are taken over, which takes no time. So this only says how soon a lost one returns. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** Attempts are counted in the store, where a flush of Redis does not forget them. */
const ANY_NUMBER_OF_STALLS = 1_000_000;
/** How long the worker pauses after Redis refused a command. */
const REST_MS = 1_000;
/** For BullMQ's own shutdown, once the handlers are done. */
const FAREWELL_MS = 2_000;

/**
 * The consumer's side of a queue. It takes over the ids of each job at once, and the job ends: the order in which they
 * are worked on is decided in `work-places.ts`, where it is known whose they are and which places are free. The ids
 * that wait there are bounded by the queue (`work-queue.ts`), and all of them are pending in the store.
 *
 * Whatever happens to Redis, an id is never in two handlers of this process at once: an id that waits or is in flight
 * already, and was queued again, is skipped.
 */
export class WorkConsumer {
  readonly #options: Required<WorkConsumerOptions>;
  readonly #places: WorkPlaces;
  readonly #connections: Redis[] = [];
  #worker: Worker | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  #isComplaining = false;
  #isClosing = false;

  constructor(options: WorkConsumerOptions) {
    this.#options = {
      closeTimeoutMs: 10_000,
      onTaken: () => undefined,
      onDone: () => undefined,
      onDamage: () => undefined,
      limits: null,
      ...options,
    };
    this.#places = new WorkPlaces(options.places, id => this.#handle(id), options.limits);
  }

  /** Begins to work as soon as Redis is there; never throws for an absent Redis. */
  start(): void {
    if (this.#worker !== undefined || this.#isClosing) return;
    const worker = new Worker(this.#options.name, job => this.#takeOver(job), {
      connection: this.#connect(),
      prefix: this.#options.redis.prefix,
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
   * Begins no more work, and waits up to `closeTimeoutMs` for the handlers. Work that was not begun or not finished is
   * still pending in the store.
   */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#places.close();
    clearTimeout(this.#restTimer);
    const worker = this.#worker;
    if (worker === undefined) return;
    await settledWithin(FAREWELL_MS, [worker.pause(true)]);
    const isIdle = await settledWithin(this.#options.closeTimeoutMs, this.#places.inFlight.values());
    if (!isIdle) {
      const { log, name } = this.#options;
      log.warn(
        { queue: name, messages: this.#places.inFlight.size },
        'stopping while messages are worked on',
      );
    }
    // An orderly close marks the jobs as done. That needs Redis, for which BullMQ would wait for ever; the connection on
    // which it waits for more jobs, the second, may be on its way.
    const isOrderly = isIdle && this.#connections[0]?.status === 'ready';
    await settledWithin(FAREWELL_MS, [worker.close(!isOrderly)]);
    for (const connection of this.#connections) connection.disconnect();
  }

  /**
   * Begins work on an id at once, without the queue in Redis. Should the queue hand out the id too, it is skipped while
   * it is in flight.
   * @returns false if there is no free place for its lane, the id must be worked on alone, or it is here already:
   *   then the id has to go through the queue
   */
  takeNow(id: WorkId, lane: Lane): boolean {
    return this.#worker !== undefined && this.#places.takeNow(id, lane);
  }

  /** A limit was raised: begins what may begin now. */
  admit(): void {
    this.#places.admit();
  }

  /** How long no work has ended although there is some (`work-places.ts`). */
  get stalledMs(): number {
    return this.#places.stalledMs;
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

  async #takeOver(job: Job): Promise<void> {
    if (this.#isClosing) return;
    const { laneOf, onTaken } = this.#options;
    const ids = idsOf(job).filter(id => !this.#places.has(id));
    this.#places.add(ids.map(id => [id, laneOf(id)]));
    if (job.id !== undefined) onTaken(job.id);
  }

  /** A failure concerns this id only: it stays pending, and the reconciler queues it again. */
  async #handle(id: WorkId): Promise<void> {
    const { handler, onDone, log } = this.#options;
    try {
      await handler(id);
    } catch (error) {
      log.error(
        { messageId: id, reason: reasonOf(error) },
        'a message could not be worked on; it stays pending',
      );
    } finally {
      onDone(id);
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

function idsOf(job: Job): WorkId[] {
  const ids: unknown = job.data;
  return Array.isArray(ids) ? ids.flatMap(id => toId<WorkId>(`${id}`) ?? []) : [];
}
