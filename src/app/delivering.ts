import { isIP } from 'node:net';
import type { Config } from '../config/load-config.js';
import type { DnsClient } from '../dns/dns-client.js';
import { Reach } from '../domain/networks.js';
import type { RedisSpace } from '../queue/connection.js';
import { pendingWork, WorkLine } from '../queue/work-line.js';
import { createRoutes } from '../relay/direct/create-routes.js';
import { DirectDeliverer } from '../relay/direct/deliver.js';
import { DeliverHere } from '../relay/direct/deliver-here.js';
import { DirectTransport } from '../relay/direct/direct-transport.js';
import { directDefaults } from '../relay/direct/options.js';
import type { ListenPlace } from '../relay/direct/own-addresses.js';
import { LocalDelivery } from '../relay/local-delivery.js';
import type { Transport } from '../relay/transport.js';
import type { Store } from '../store/engine/store.js';
import type { Writer } from '../store/engine/tables.js';
import { type DeliveryRecord, getDelivery } from '../store/records/deliveries.js';
import { END_OF_TIME, listDue } from '../store/records/pending.js';
import { stsShelf } from '../store/records/sts-policies.js';
import { maxQueuedMs } from '../usecases/dkim/limits.js';
import type { Clock, InboundMail, Logger, WorkQueue } from '../usecases/ports.js';
import { type DeliverDeps, deliver } from '../usecases/sending/deliver.js';
import { isQueued, isUntold, LONGEST_PAUSE_MS, type Notice } from '../usecases/sending/delivery-states.js';
import type { NoticedRecipient } from '../usecases/sending/notice-words.js';
import { noticedMessage } from '../usecases/sending/noticed-message.js';
import { type NoticeDeps, sendNotice } from '../usecases/sending/send-notice.js';
import type { Meters } from './metering.js';

interface DeliveringDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisSpace;
  readonly dns: DnsClient;
  /** Takes the mail for our own domains, and the notices, within the process. */
  readonly inbound: InboundMail;
  /** Every place where we take mail now: mail for others that leads there would come round. */
  readonly listens: () => readonly ListenPlace[];
  readonly meters: Meters;
}

/** Deliveries in hand at a time, where no more connections are wanted. */
const LEAST_IN_HAND = 50;

/** Deliveries in hand at a time: each has its message in memory, and a connection takes one. */
export function deliveriesInHand({ relay }: Pick<Config, 'relay'>): number {
  return Math.max(LEAST_IN_HAND, relay.direct.maxConnections);
}

/** How long a stop waits for answers to final dots that have left (`TimeoutStopSec` of the unit is longer). */
export const DOT_ANSWERS_MS = 60_000;
/** For what is written of these answers, and of those that have not come. */
const LAST_WORDS_MS = 3_000;

/** Brings deliveries from their commit to their end: the work line, the DNS client and the connections, as one. */
export class Delivering {
  readonly #line: WorkLine<DeliveryRecord, Buffer>;
  readonly #outside: DirectDeliverer;

  constructor({ config, store, clock, log, redis, dns, inbound, listens, meters }: DeliveringDeps) {
    const { direct } = config.relay;
    const { hostname, domains } = config.mail;
    const maxAgeMs = maxQueuedMs(config);
    const reach = new Reach(direct.allowNetworks);
    this.#outside = new DirectDeliverer({
      options: {
        ...directDefaults,
        hostname,
        port: direct.port,
        maxConnections: direct.maxConnections,
        sourceAddresses: {
          ipv4: direct.sourceAddress.find(address => isIP(address) === 4) ?? null,
          ipv6: direct.sourceAddress.find(address => isIP(address) === 6) ?? null,
        },
        mayConnect: address => reach.faultOf(address) === null,
      },
      routes: createRoutes({ config, dns, shelf: stsShelf(store), listens, clock, log }),
      log,
      onFaster: () => this.#line.admit(),
    });
    const local = new LocalDelivery({ inbound, hostname, maxMessageBytes: config.smtp.maxMessageBytes });
    const deps: DeliverDeps = {
      store,
      clock,
      deliverer: new DeliverHere({ domains, local, outside: meters.deliverer(this.#outside) }),
      notify: (deliveries, kind, alongside) =>
        notify({ store, inbound, clock, hostname, maxAgeMs }, deliveries, kind, alongside),
      telling: new Set(),
      log,
      maxAgeMs,
    };
    this.#line = new WorkLine<DeliveryRecord, Buffer>({
      name: 'deliver',
      redis,
      log,
      places: { deliver: deliveriesInHand(config) },
      find: id => store.read(reader => getDelivery(reader, id)),
      laneOf: ({ accountId, domain }) => ({
        way: 'deliver',
        owner: accountId,
        destination: domain,
        isAlone: false,
      }),
      limits: { perDestination: domain => this.#outside.limitOf(domain) },
      isDirect: true,
      closeTimeoutMs: DOT_ANSWERS_MS + LAST_WORDS_MS,
      listPending: pendingWork(store, 'deliver', clock, LONGEST_PAUSE_MS),
      handler: id => deliver(deps, id),
    });
  }

  /** For mail of the service itself. */
  get transport(): Transport {
    return new DirectTransport(this.#outside);
  }

  /** The queue to which deliveries are offered. */
  get queue(): WorkQueue<DeliveryRecord> {
    return this.#line;
  }

  start(): void {
    this.#line.start();
  }

  /** Starts no further dot; those that have left get their answer, or are `unknown` after a minute. */
  async stop(): Promise<void> {
    await Promise.all([this.#line.close(), this.#outside.close(DOT_ANSWERS_MS)]);
  }
}

/** Is there a delivery that has not ended? */
export function isDeliveryWaiting(store: Store): boolean {
  return store.read(reader => listDue(reader, 'deliver', END_OF_TIME, 1)).length > 0;
}

interface NotifyDeps extends NoticeDeps {
  readonly store: Store;
  readonly maxAgeMs: number;
}

async function notify(
  deps: NotifyDeps,
  deliveries: readonly DeliveryRecord[],
  kind: Notice,
  alongside: (writer: Writer) => void,
): Promise<boolean> {
  const [first] = deliveries;
  const record = first === undefined ? null : await noticedMessage(deps.store, first);
  if (record === null) return true;
  const all = deliveries.flatMap(one => one.recipients);
  const recipients = all.filter(kind === 'ended' ? isUntold : isQueued) as NoticedRecipient[];
  const latest = Math.max(...deliveries.map(({ createdAt }) => createdAt));
  const notice = { record, recipients, retryUntil: latest + deps.maxAgeMs };
  const { status } = await sendNotice(deps, notice, alongside);
  return status !== 'no_room';
}
