import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/load-config.js';
import { Reconciler } from '../queue/reconciler.js';
import { WorkConsumer } from '../queue/work-consumer.js';
import { BullWorkQueue } from '../queue/work-queue.js';
import { createRelay } from '../relay/relay.js';
import type { Store } from '../store/engine/store.js';
import type { BlobUploads } from '../store/records/blob-upload.js';
import { END_OF_TIME } from '../store/records/pending.js';
import type { Clock, InboundMail, Logger, Relay } from '../usecases/ports.js';
import { SendsInHand } from '../usecases/sending/in-flight.js';
import { relayMessage } from '../usecases/sending/relay-message.js';
import type { SendDeps } from '../usecases/sending/submit-send.js';
import { listPending } from './list-pending.js';
import type { RedisHost } from './redis-host.js';

interface SendingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisHost;
  /** Where mail for own domains goes, without leaving the process. */
  readonly inbound: InboundMail;
}

/**
 * Messages in hand at once, each of which is marked as started: what a kill leaves `unknown` is not more. Two for
 * a connection to the smarthost, so that one is on the wire while the commits of another are flushed.
 */
const IN_HAND_PER_CONNECTION = 2;
/** The same where everything is delivered in process. */
const LOCAL_IN_HAND = 32;
/** What is reserved within so long travels to the relay together: the requests wait for flushes anyway. */
const GATHER_MS = 8;
/** How long an orderly stop waits for messages that are handed over; what is cut off stays `unknown`. */
const FINISH_MS = 3_000;
/** Of that, how long the relay takes messages still that were being marked as started when the stop came. */
const LAST_STARTS_MS = 200;

/**
 * The way of a message from its reservation to its outcome: the queue, the consumer, the relay and the
 * reconciler, wired together and started and stopped as one.
 */
export class Sending {
  /** What use cases need to send. */
  readonly deps: SendDeps;
  readonly #queue: BullWorkQueue;
  readonly #consumer: WorkConsumer;
  readonly #reconciler: Reconciler<Buffer>;
  readonly #relay: ReturnType<typeof createRelay>;

  constructor({ config, store, uploads, clock, log, redis, inbound }: SendingDeps) {
    const { address, prefix } = redis;
    const { transport, smarthost } = config.relay;
    const inHandAtOnce =
      transport === 'smarthost' ? IN_HAND_PER_CONNECTION * smarthost.maxConnections : LOCAL_IN_HAND;
    const inHand = new SendsInHand();
    const relay = createRelay({ config, inbound, log });
    this.#relay = relay;
    this.#queue = new BullWorkQueue({ name: 'relay', address, log, prefix, gatherMs: GATHER_MS });
    this.#consumer = new WorkConsumer({
      name: 'relay',
      address,
      log,
      prefix,
      concurrency: inHandAtOnce,
      // Somebody waits for each of them: they travel in small batches.
      batches: inHandAtOnce,
      handler: id => relayMessage({ store, clock, relay, inHand, log }, id),
      onDone: id => this.#queue.done(id),
      closeTimeoutMs: FINISH_MS,
    });
    this.#reconciler = new Reconciler({
      // Whatever the clock says now: it may have gone back since the reservation.
      listPending: listPending({ store, clock: () => END_OF_TIME }, 'relay'),
      queue: this.#queue,
      log,
    });
    this.deps = {
      store,
      uploads,
      clock,
      inHand,
      queue: this.#directQueue(),
      quota: {
        limits: config.limits,
        texts: { increaseRequest: config.service.increaseRequest, policyUrl: config.service.policyUrl },
      },
      attribution: config.service.attribution,
      responseTimeoutMs: config.relay.responseTimeoutS * 1000,
    };
  }

  /** Where mail of the service itself goes too. */
  get relay(): Relay {
    return this.#relay;
  }

  start(): void {
    this.#queue.start();
    this.#consumer.start();
    this.#reconciler.start();
  }

  /** A message goes to the relay at once while there is room for it, and waits in the queue when there is not. */
  #directQueue(): SendDeps['queue'] {
    const isReady = (): boolean => this.#queue.isReady;
    return {
      get isReady() {
        return isReady();
      },
      offer: ids => this.#queue.offer(ids.filter(id => !this.#consumer.takeNow(id))),
    };
  }

  /** Can a message be offered now? */
  get isReady(): boolean {
    return this.#queue.isReady;
  }

  /** Resolves when messages can be offered, after `timeoutMs` at the latest: Redis may be away. */
  async whenReady(timeoutMs: number): Promise<void> {
    if (this.isReady) return;
    await new Promise<void>(resolve => {
      const done = (): void => {
        clearTimeout(timer);
        unsubscribe();
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      const unsubscribe = this.#queue.onReady(done);
    });
  }

  /** A stop is near: requests that wait for their outcome are answered within `ms`, with `unknown` at worst. */
  answerWithin(ms: number): void {
    this.deps.inHand.endWithin(ms);
  }

  /** Nothing is started any more; messages in hand get their outcome, or are cut off. */
  async stop(): Promise<void> {
    await this.#reconciler.stop();
    const finished = this.#consumer.close();
    await Promise.race([finished, delay(LAST_STARTS_MS, null, { ref: false })]);
    await Promise.all([finished, this.#relay.close(FINISH_MS - LAST_STARTS_MS)]);
    // Whoever waits still has gone away.
    this.deps.inHand.endWithin(0);
    await this.#queue.close();
  }
}
