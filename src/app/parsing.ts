import type { Config } from '../config/load-config.js';
import { DnsClient } from '../dns/dns-client.js';
import type { RedisSpace } from '../queue/connection.js';
import { pendingWork, WorkLine } from '../queue/work-line.js';
import type { Store } from '../store/engine/store.js';
import { getMessage } from '../store/mailbox/messages.js';
import type { BlobUploads } from '../store/records/blob-upload.js';
import { indexMessage, isParsedAlone, type ParseWork } from '../usecases/inbound/index-message.js';
import type { Authenticator, Clock, Logger, MessageParser, WorkQueue } from '../usecases/ports.js';
import { noteBounce } from '../usecases/sending/note-bounce.js';
import { CHECK_SHARES, checkTimes } from '../workers/dns-answers.js';
import { isLarge, ParsePool } from '../workers/parse-pool.js';
import type { Meters } from './metering.js';

interface ParsingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly uploads: BlobUploads;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisSpace;
  readonly meters: Meters;
}

/** Small messages in flight per thread: most of them wait for a commit, which they share, or for the thread. */
const IN_FLIGHT_PER_THREAD = 64;
/** Ids that are offered within this time, while others wait, share a job of the queue: it is taken as soon as it is there. */
const GATHER_MS = 25;
/** How long a stop waits for messages that are being parsed; those that are cut off are parsed again later. */
const FINISH_MS = 3_000;

/**
 * Brings received messages from `pending` to `ready`: the work line and the parser threads, started and stopped as one.
 * Nothing here is needed to accept mail.
 */
export class Parsing {
  readonly #pool: ParsePool;
  /** Apart from that of deliveries: what strangers make us ask must not hold those up. */
  readonly #dns: DnsClient;
  readonly #timeoutMs: number;
  readonly #line: WorkLine<ParseWork, Buffer>;
  readonly #stopping = new AbortController();

  constructor({ config, store, uploads, clock, log, redis, meters }: ParsingDeps) {
    this.#timeoutMs = config.parse.timeoutS * 1000;
    const { dnsTimeoutS, trustedSealers } = config.inbound;
    const dnsMs = dnsTimeoutS * 1000;
    this.#dns = new DnsClient({ ...config.dns, times: checkTimes(dnsMs), shares: CHECK_SHARES });
    const pool = new ParsePool({
      workers: config.parse.workers,
      timeoutMs: this.#timeoutMs,
      memoryMib: config.parse.memoryMib,
      checks: dnsMs === 0 ? null : { dns: this.#dns, trustedSealers, dnsMs },
      log,
    });
    const maxTries = config.parse.tries;
    const startedAt = clock();
    const index = {
      store,
      uploads,
      clock,
      log,
      parser: meters.parser(pool),
      noteBounce: noteBounce(clock),
      maxTries,
      startedAt,
    };
    this.#pool = pool;
    this.#line = new WorkLine<ParseWork, Buffer>({
      name: 'parse',
      redis,
      log,
      places: { small: config.parse.workers * IN_FLIGHT_PER_THREAD, large: pool.largeAtOnce },
      find: id => store.read(reader => getMessage(reader, id)),
      laneOf: work => ({
        way: isLarge(work.raw.size) ? 'large' : 'small',
        owner: work.inboxId,
        isAlone: isParsedAlone(work),
      }),
      gatherMs: GATHER_MS,
      closeTimeoutMs: FINISH_MS,
      listPending: pendingWork(store, 'parse', clock),
      handler: async id => {
        await store.room.untilRoom('finish', this.#stopping.signal);
        if (this.#stopping.signal.aborted) return undefined;
        const outcome = await indexMessage(index, id);
        return outcome.status === 'again' ? outcome.dueAt - clock() : undefined;
      },
    });
  }

  /** The queue to which accepted messages are offered. */
  get queue(): WorkQueue<ParseWork> {
    return this.#line;
  }

  /** Looks at mail that is not stored yet: who has written it, and what it reports. */
  get pool(): Authenticator & MessageParser {
    return this.#pool;
  }

  /** Can work be queued now? */
  get isQueueReady(): boolean {
    return this.#line.isReady;
  }

  /**
   * For how long no message has been parsed although some wait, in milliseconds; the longest time that one message may
   * take does not count.
   */
  get stalledMs(): number {
    return this.#line.stalledMs - this.#timeoutMs;
  }

  /** Starts the parser threads. */
  async prepare(): Promise<void> {
    await this.#pool.start();
  }

  /** Begins to work as soon as Redis is connected. */
  start(): void {
    this.#line.start();
  }

  /** Messages in flight are finished or stay `pending`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#line.close();
    await this.#pool.stop();
    this.#dns.close();
  }
}
