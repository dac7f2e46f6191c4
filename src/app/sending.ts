import type { Config } from '../config/load-config.js';
import { envelopeRecipients } from '../domain/message-parts.js';
import { within } from '../lib/async.js';
import { loadSigner } from '../mail/write/sign-message.js';
import type { RedisSpace } from '../queue/connection.js';
import { pendingWork, WorkLine } from '../queue/work-line.js';
import { createRelay } from '../relay/relay.js';
import type { RelayWay } from '../relay/split-relay.js';
import type { Store } from '../store/engine/store.js';
import { getSent } from '../store/mailbox/messages.js';
import type { BlobUploads } from '../store/records/blob-upload.js';
import { END_OF_TIME } from '../store/records/pending.js';
import { maxQueuedMs } from '../usecases/dkim/limits.js';
import { mailSigner } from '../usecases/dkim/sign-mail.js';
import type { Clock, InboundMail, Logger, Relay } from '../usecases/ports.js';
import { SendsInFlight } from '../usecases/sending/in-flight.js';
import { type RelayWork, relayMessage } from '../usecases/sending/relay-message.js';
import type { SendDeps } from '../usecases/sending/submit-send.js';
import type { Delivering } from './delivering.js';
import type { Meters } from './metering.js';

interface SendingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisSpace;
  /** Takes the mail for our own domains, within the process. */
  readonly inbound: InboundMail;
  /** Delivers to other domains; null where a relay does, or nobody. */
  readonly delivering: Delivering | null;
  readonly meters: Meters;
}

/**
 * Messages in flight per connection to the smarthost: one is being sent while the commits of the other are flushed.
 * Each is marked as started, so after a kill of the process at most this many are `unknown`.
 */
const IN_FLIGHT_PER_CONNECTION = 2;
/** Messages in flight that are delivered in process. */
const LOCAL_IN_FLIGHT = 32;
/** Ids of sends that are offered within this time share a job of the queue. */
const GATHER_MS = 8;
/** How long a stop waits for messages that are being handed over; those that are cut off become `unknown`. */
const FINISH_MS = 3_000;
/** In this first part of the stop, the relay still takes messages that were being marked as started. */
const LAST_STARTS_MS = 200;

/** Brings messages from their reservation to their outcome: the work line and the relay, started and stopped as one. */
export class Sending {
  /** For the use cases that send. */
  readonly deps: SendDeps;
  readonly #line: WorkLine<RelayWork, Buffer>;
  readonly #relay: ReturnType<typeof createRelay>;
  readonly #signs: boolean;

  constructor({ config, store, uploads, clock, log, redis, inbound, delivering, meters }: SendingDeps) {
    const inFlight = new SendsInFlight();
    const { transport, dkim, smarthost } = config.relay;
    const isSmarthost = transport === 'smarthost';
    const signer =
      transport === 'direct' || (isSmarthost && dkim)
        ? mailSigner(
            { store, clock, maxQueuedMs: maxQueuedMs(config), domains: config.mail.domains },
            { isRedated: isSmarthost && !smarthost.keepsMessageId },
          )
        : null;
    const relay = createRelay({ config, inbound, log, signer, direct: delivering?.transport ?? null });
    this.#relay = relay;
    const counted = meters.relay(relay);
    this.#signs = signer !== null;
    this.#line = new WorkLine<RelayWork, Buffer>({
      name: 'relay',
      redis,
      log,
      places: {
        local: LOCAL_IN_FLIGHT,
        outside: IN_FLIGHT_PER_CONNECTION * config.relay.smarthost.maxConnections,
      } satisfies Record<RelayWay, number>,
      find: id => store.read(reader => getSent(reader, id)),
      laneOf: work => ({
        way: relay.wayOf(envelopeRecipients(work)),
        owner: work.accountId,
        isAlone: false,
      }),
      gatherMs: GATHER_MS,
      isDirect: true,
      closeTimeoutMs: FINISH_MS,
      // Not by the current time: the clock may have been set back since the reservation.
      listPending: pendingWork(store, 'relay', () => END_OF_TIME),
      handler: async id => {
        await relayMessage({ store, clock, relay: counted, inFlight, log }, id);
        return undefined;
      },
    });
    this.deps = {
      store,
      uploads,
      clock,
      inFlight,
      queue: this.#line,
      quota: {
        limits: config.limits,
        texts: { increaseRequest: config.service.increaseRequest, policyUrl: config.service.policyUrl },
      },
      attribution: config.service.attribution,
      keepsMessageIds: config.relay.transport !== 'smarthost' || config.relay.smarthost.keepsMessageId,
      deliveries: delivering === null ? null : { queue: meters.deliveries(delivering.queue), signer },
      responseTimeoutMs: config.relay.responseTimeoutS * 1000,
    };
  }

  /** The relay, also for mail of the service itself. */
  get relay(): Relay {
    return this.#relay;
  }

  start(): void {
    this.#line.start();
  }

  /** Loads what the first message would have to wait for, when everything else has started. */
  warmUp(): void {
    if (this.#signs) void loadSigner().catch(() => {});
  }

  /** Can messages be queued now? */
  get isReady(): boolean {
    return this.#line.isReady;
  }

  /** Resolves when messages can be queued, or after `timeoutMs`: Redis may be away. */
  async whenReady(timeoutMs: number): Promise<void> {
    await this.#line.whenReady(timeoutMs);
  }

  /** Before a stop: requests that wait for an outcome are answered within `ms`, with `unknown` at worst. */
  answerWithin(ms: number): void {
    this.deps.inFlight.endWithin(ms);
  }

  /** Starts no more messages. Messages in flight get their outcome, or are cut off after about three seconds. */
  async stop(): Promise<void> {
    const finished = this.#line.close();
    await within(LAST_STARTS_MS, finished);
    await Promise.all([finished, this.#relay.close(FINISH_MS - LAST_STARTS_MS)]);
    // Requests that still wait were cut off with their connections.
    this.deps.inFlight.endWithin(0);
  }
}
