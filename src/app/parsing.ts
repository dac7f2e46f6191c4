import type { Config } from '../config/config.js';
import type { MessageId } from '../domain/ids.js';
import { checkExternalRedis } from '../queue/check-external-redis.js';
import { ManagedRedis } from '../queue/managed-redis.js';
import { ParseConsumer } from '../queue/parse-consumer.js';
import { BullParseQueue } from '../queue/parse-queue.js';
import { type PendingPage, Reconciler } from '../queue/reconciler.js';
import type { RedisAddress } from '../queue/redis-address.js';
import type { BlobUploads } from '../store/blob-upload.js';
import { getMeta } from '../store/meta.js';
import { listDue } from '../store/pending.js';
import type { Store } from '../store/store.js';
import type { Clock, Logger, ParseQueue } from '../usecases/ports.js';
import { isParsedAlone } from '../usecases/recover-parsing.js';
import { ParsePool } from '../workers/parse-pool.js';
import { createParseWorker } from '../workers/parse-worker.js';

interface ParsingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Messages in hand for each thread: most wait for a commit, which they share, or for the thread. */
const IN_HAND_PER_THREAD = 64;
/** How long an orderly stop waits for messages that are being parsed; what is cut off is parsed again. */
const FINISH_MS = 3_000;

/**
 * The way of a message from `pending` to `ready`: Redis, the queue on it, the consumer, the threads and the
 * reconciler, wired together and started and stopped as one. Nothing here is needed to accept mail.
 */
export class Parsing {
  readonly #deps: ParsingDeps;
  readonly #redis: ManagedRedis | null;
  readonly #queue: BullParseQueue;
  readonly #pool: ParsePool;
  readonly #consumer: ParseConsumer;
  readonly #reconciler: Reconciler<Buffer>;

  constructor(deps: ParsingDeps) {
    const { config, store, log } = deps;
    this.#deps = deps;
    this.#redis =
      config.redis.mode === 'managed' ? new ManagedRedis({ dataDir: config.store.path, log }) : null;
    const address: RedisAddress = this.#redis?.address ?? { mode: 'external', url: externalUrl(config) };
    // Two appliances may share an external Redis; each throws away at its start what is its own there.
    const prefix = `postern:${store.read(reader => getMeta(reader, 'identity'))?.id ?? ''}`;
    this.#queue = new BullParseQueue({ address, log, prefix });
    this.#pool = new ParsePool({
      workers: config.parse.workers,
      timeoutMs: config.parse.timeoutS * 1000,
      memoryMib: config.parse.memoryMib,
      log,
    });
    const worker = createParseWorker(
      { ...deps, parser: this.#pool, maxTries: config.parse.tries },
      this.#queue,
    );
    this.#consumer = new ParseConsumer({
      address,
      log,
      prefix,
      concurrency: config.parse.workers * IN_HAND_PER_THREAD,
      isAlone: id => store.read(reader => isParsedAlone(reader, id)),
      handler: worker,
      onDone: id => this.#queue.done(id),
      closeTimeoutMs: FINISH_MS,
    });
    this.#reconciler = new Reconciler({
      listPending: (limit, after?: Buffer) => listPending(store, deps.clock, limit, after),
      queue: this.#queue,
      log,
    });
  }

  /** Where accepted messages are offered. */
  get queue(): ParseQueue {
    return this.#queue;
  }

  /** Can work be queued now? */
  get isQueueReady(): boolean {
    return this.#queue.isReady;
  }

  /**
   * Starts everything. An absent Redis does not fail it; what only the operator can mend does
   * (RedisConfigurationError).
   */
  async start(): Promise<void> {
    const { config, log } = this.#deps;
    await Promise.all([
      this.#pool.start(),
      this.#redis?.start() ?? checkExternalRedis(externalUrl(config), log),
    ]);
    this.#queue.start();
    this.#consumer.start();
    this.#reconciler.start();
  }

  /** Messages in hand are finished or returned to `pending`, then Redis is stopped. */
  async stop(): Promise<void> {
    await this.#reconciler.stop();
    await this.#consumer.close();
    await this.#pool.stop();
    await this.#queue.close();
    await this.#redis?.stop();
  }
}

function externalUrl(config: Config): string {
  return config.redis.url?.reveal() ?? '';
}

function listPending(store: Store, clock: Clock, limit: number, after?: Buffer): PendingPage<Buffer> {
  const due = store.read(reader => listDue(reader, 'parse', clock(), limit, after));
  const ids: MessageId[] = due.map(({ work }) => work.id);
  return { ids, next: due.length < limit ? null : (due.at(-1)?.position ?? null) };
}
