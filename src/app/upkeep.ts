import type { Config } from '../config/load-config.js';
import type { DnsClient } from '../dns/dns-client.js';
import type { AccountId } from '../domain/ids.js';
import type { Store } from '../store/engine/store.js';
import { maxQueuedMs } from '../usecases/dkim/limits.js';
import { DkimUpkeep } from '../usecases/dkim/look-for-records.js';
import { countOwed } from '../usecases/inbound/owed-room.js';
import type { Clock, Logger } from '../usecases/ports.js';
import { ExcerptMaking } from '../usecases/upkeep/make-excerpts.js';
import { Redating } from '../usecases/upkeep/redate.js';
import { sweep } from '../usecases/upkeep/sweep.js';
import { Sweeper } from '../workers/background.js';

/**
 * How soon the space of deleted mail is freed. Soon, because until then new mail makes the file of the store grow. A
 * sweep that finds nothing takes some microseconds.
 */
const SWEEP_INTERVAL_MS = 250;
/** How soon the previews of mail from before are gone on with, once there is room again. */
const EXCERPTS_INTERVAL_MS = 5_000;
/** How soon keys that the command line made or ended are looked after. */
const DKIM_INTERVAL_MS = 5_000;
/** How soon it is known what the command line has brought in, whose parsing takes room. A message takes microseconds. */
const OWED_INTERVAL_MS = 30_000;

export interface UpkeepOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dns: DnsClient;
  /** Mails what the agents of an account said about the service to its operator. */
  readonly mailDigest: (accountId: AccountId) => Promise<void>;
}

/**
 * The duties that come round: what is due in the store, previews of mail from before, records of DKIM keys, the room that
 * parsing will take.
 */
export class Upkeep {
  readonly #due: Sweeper;
  /** Apart from the others, because it takes its time. */
  readonly #excerpts: Sweeper;
  /** Apart from the others, because it waits for the DNS. */
  readonly #dkimKeys: Sweeper;
  readonly #owed: Sweeper;

  constructor(options: UpkeepOptions) {
    const { config, store, clock, log, dns, mailDigest } = options;
    const redating = new Redating({ store, clock });
    this.#due = new Sweeper({
      run: async shouldStop => {
        await redating.run(shouldStop);
        await sweep({ store, clock, auditRetentionDays: config.audit.retentionDays, mailDigest }, shouldStop);
      },
      intervalMs: SWEEP_INTERVAL_MS,
      log,
    });
    const excerpts = new ExcerptMaking({ store, log, attribution: config.service.attribution });
    this.#excerpts = new Sweeper({
      run: shouldStop => excerpts.run(shouldStop),
      intervalMs: EXCERPTS_INTERVAL_MS,
      log,
    });
    const { domains } = config.mail;
    const dkim = new DkimUpkeep({ store, clock, log, domains, dns, maxQueuedMs: maxQueuedMs(config) });
    this.#dkimKeys = new Sweeper({
      run: shouldStop => dkim.run(shouldStop),
      intervalMs: DKIM_INTERVAL_MS,
      log,
    });
    this.#owed = new Sweeper({
      run: shouldStop => countOwed(store, shouldStop),
      intervalMs: OWED_INTERVAL_MS,
      log,
    });
  }

  start(): void {
    this.#due.start();
    this.#dkimKeys.start();
    this.#owed.start();
  }

  /** What can wait until the service is up. */
  startFilling(): void {
    this.#excerpts.start();
  }

  /** Ends what is going on between two steps of it. */
  async stop(): Promise<void> {
    await Promise.all([this.#due, this.#excerpts, this.#dkimKeys, this.#owed].map(sweeper => sweeper.stop()));
  }
}
