import type { Config } from '../config/load-config.js';
import { Reconciler } from '../queue/reconciler.js';
import { WorkConsumer } from '../queue/work-consumer.js';
import { BullWorkQueue } from '../queue/work-queue.js';
import type { Store } from '../store/engine/store.js';
import type { BlobUploads } from '../store/records/blob-upload.js';
import { isParsedAlone } from '../usecases/inbound/index-message.js';
import type { Clock, Logger, WorkQueue } from '../usecases/ports.js';
import { createParseWorker } from '../workers/background.js';
import { ParsePool } from '../workers/parse-pool.js';
import { listPending } from './list-pending.js';
import type { RedisHost } from './redis-host.js';

interface ParsingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisHost;
}

/** Messages in hand for each thread: most wait for a commit, which they share, or for the thread. */
const IN_HAND_PER_THREAD = 64;
/** How long an orderly stop waits for messages that are being parsed; what is cut off is parsed again. */
const FINISH_MS = 3_000;

/**
 * The way of a message from `pending` to `ready`: the queue, the consumer, the threads and the
 * reconciler, wired together and started and stopped as one. Nothing here is needed to accept mail.
 */
export class Parsing {
  readonly #queue: BullWorkQueue;
  readonly #pool: ParsePool;
  readonly #consumer: WorkConsumer;
  readonly #reconciler: Reconciler<Buffer>;

  constructor(deps: ParsingDeps) {
    const { config, store, log } = deps;
    const { address, prefix } = deps.redis;
    this.#queue = new BullWorkQueue({ name: 'parse', address, log, prefix });
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
    this.#consumer = new WorkConsumer({
      name: 'parse',
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
      listPending: listPending(deps, 'parse'),
      queue: this.#queue,
      log,
    });
  }

  /** Where accepted messages are offered. */
  get queue(): WorkQueue {
    return this.#queue;
  }

  /** Can work be queued now? */
  get isQueueReady(): boolean {
    return this.#queue.isReady;
  }

  /** Starts the parser threads. */
  async prepare(): Promise<void> {
    await this.#pool.start();
  }

  /** Begins to work, as soon as Redis is there. */
  start(): void {
    this.#queue.start();
    this.#consumer.start();
    this.#reconciler.start();
  }

  /** Messages in hand are finished or returned to `pending`. */
  async stop(): Promise<void> {
    await this.#reconciler.stop();
    await this.#consumer.close();
    await this.#pool.stop();
    await this.#queue.close();
  }
}
