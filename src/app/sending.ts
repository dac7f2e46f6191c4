import type { Config } from '../config/load-config.js';
import { within } from '../lib/async.js';
import type { RedisSpace } from '../queue/connection.js';
import { pendingWork, WorkLine } from '../queue/work-line.js';
import { createRelay } from '../relay/relay.js';
import type { Store } from '../store/engine/store.js';
import type { BlobUploads } from '../store/records/blob-upload.js';
import { END_OF_TIME } from '../store/records/pending.js';
import type { Clock, InboundMail, Logger, Relay } from '../usecases/ports.js';
import { SendsInHand } from '../usecases/sending/in-flight.js';
import { relayMessage } from '../usecases/sending/relay-message.js';
import type { SendDeps } from '../usecases/sending/submit-send.js';

interface SendingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisSpace;
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
 * The way of a message from its reservation to its outcome: its line of work and the relay, started and stopped as
 * one.
 */
export class Sending {
  /** What use cases need to send. */
  readonly deps: SendDeps;
  readonly #line: WorkLine<Buffer>;
  readonly #relay: ReturnType<typeof createRelay>;

  constructor({ config, store, uploads, clock, log, redis, inbound }: SendingDeps) {
    const { transport, smarthost } = config.relay;
    const inHandAtOnce =
      transport === 'smarthost' ? IN_HAND_PER_CONNECTION * smarthost.maxConnections : LOCAL_IN_HAND;
    const inHand = new SendsInHand();
    const relay = createRelay({ config, inbound, log });
    this.#relay = relay;
    this.#line = new WorkLine({
      name: 'relay',
      redis,
      log,
      concurrency: inHandAtOnce,
      // Somebody waits for each of them: they travel in small batches, or not at all.
      batches: inHandAtOnce,
      gatherMs: GATHER_MS,
      isDirect: true,
      closeTimeoutMs: FINISH_MS,
      // Whatever the clock says now: it may have gone back since the reservation.
      listPending: pendingWork(store, 'relay', () => END_OF_TIME),
      handler: async id => {
        await relayMessage({ store, clock, relay, inHand, log }, id);
        return undefined;
      },
    });
    this.deps = {
      store,
      uploads,
      clock,
      inHand,
      queue: this.#line,
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
    this.#line.start();
  }

  /** Can a message be offered now? */
  get isReady(): boolean {
    return this.#line.isReady;
  }

  /** Resolves when messages can be offered, after `timeoutMs` at the latest: Redis may be away. */
  async whenReady(timeoutMs: number): Promise<void> {
    await this.#line.whenReady(timeoutMs);
  }

  /** A stop is near: requests that wait for their outcome are answered within `ms`, with `unknown` at worst. */
  answerWithin(ms: number): void {
    this.deps.inHand.endWithin(ms);
  }

  /** Nothing is started any more; messages in hand get their outcome, or are cut off. */
  async stop(): Promise<void> {
    const finished = this.#line.close();
    await within(LAST_STARTS_MS, finished);
    await Promise.all([finished, this.#relay.close(FINISH_MS - LAST_STARTS_MS)]);
    // Whoever waits still has gone away.
    this.deps.inHand.endWithin(0);
  }
}
