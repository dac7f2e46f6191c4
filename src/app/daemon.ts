import type { Config } from '../config/load-config.js';
import { DnsClient } from '../dns/dns-client.js';
import { CursorCodec } from '../domain/paging.js';
import type { HttpServer } from '../http/server/http-server.js';
import { readClock } from '../ops/read-clock.js';
import { type ListenPlace, listenPlaces } from '../relay/direct/own-addresses.js';
import type { SmtpListener } from '../smtp/smtp-listener.js';
import { getMeta } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import { openMigratedStore } from '../store/open-store.js';
import { BlobUploads } from '../store/records/blob-upload.js';
import { ensureOperator } from '../usecases/accounts/accounts.js';
import { mailFeedbackDigest } from '../usecases/accounts/feedback.js';
import { createEvents } from '../usecases/events/create-events.js';
import type { EventDeps } from '../usecases/events/list-events.js';
import { createInboundMail } from '../usecases/inbound/accept-message.js';
import { DATA_CHECK_LIMITS, DataChecks } from '../usecases/inbound/check-at-data.js';
import { recoverParsing } from '../usecases/inbound/index-message.js';
import type { Logger } from '../usecases/ports.js';
import { Rankings } from '../usecases/search/rankings.js';
import { recoverSends } from '../usecases/sending/attempt.js';
import { claimStore, type StoreClaim } from '../usecases/upkeep/claim-store.js';
import { viewRestored } from '../usecases/upkeep/mark-restored.js';
import { recoverUploads } from '../usecases/upkeep/sweep.js';
import { ClockWatch } from '../usecases/upkeep/watch-clock.js';
import { Access } from './access.js';
import { Certificates } from './certificates.js';
import { Delivering, DOT_ANSWERS_MS, isDeliveryWaiting } from './delivering.js';
import { httpClients } from './descriptors.js';
import { Hooking } from './hooking.js';
import { createHttpListener, createSmtpListener } from './listeners.js';
import { Metering, NO_METERS } from './metering.js';
import { Parsing } from './parsing.js';
import { Readiness } from './readiness.js';
import { Rechecking } from './rechecking.js';
import { RedisHost } from './redis-host.js';
import { Searching } from './searching.js';
import { Sending } from './sending.js';
import type { ServiceManager } from './service-manager.js';
import { Upkeep } from './upkeep.js';
import { Watchdog } from './watchdog.js';

export interface DaemonOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  /** The store has failed and nothing can be promised any more: the process must end. */
  readonly onFatal: (error: unknown) => void;
  /** The start has come further: a migration, or what an earlier process left. */
  readonly onProgress: () => void;
}

/** What an orderly stop takes at most, answers to final dots aside. */
const STOP_MS = 10_000;
/** How long clients may finish a request or a message when the daemon stops. */
const GRACE_MS = 4_000;
/** In this part of the grace, requests wait for the outcome of their send; then they are answered, not cut off. */
const ANSWER_MS = 3_000;
/** Of the connections of the HTTP listener, those that may wait for events. */
const WAITING_SHARE = 0.5;
/** For mail with approval links that is being sent; if it is cut off, the human asks for another. */
const ACCESS_GRACE_MS = 1_000;

const HELD_WARNING =
  'this store was restored from a backup: what was sent, made or revoked after it is not known here. Nothing is sent and no webhook is called until "postern restore --resume-sending"';

/** How long "postern is ready" waits until sends are accepted; without Redis it is logged all the same. */
const SENDING_READY_MS = 500;

/**
 * The whole appliance: assembled here, started in the order of dependency, stopped in reverse order. Listeners open
 * without waiting for Redis, because mail is accepted and read without it.
 */
export class Daemon {
  readonly #options: DaemonOptions;
  readonly #store: Store;
  readonly #watch: ClockWatch;
  readonly #claim: StoreClaim;
  readonly #redis: RedisHost;
  readonly #parsing: Parsing;
  readonly #rechecking: Rechecking;
  readonly #sending: Sending;
  readonly #delivering: Delivering | null;
  readonly #hooking: Hooking;
  readonly #upkeep: Upkeep;
  readonly #searching: Searching;
  readonly #dns: DnsClient;
  readonly #certificates: Certificates;
  readonly #smtp: SmtpListener;
  /** Its ports as they came to be, where the configuration leaves them open. */
  #listens: readonly ListenPlace[];
  readonly #http: HttpServer;
  readonly #access: Access;
  readonly #events: EventDeps;
  readonly #metering: Metering | null;
  readonly #readiness: Readiness;

  private constructor(
    options: DaemonOptions,
    store: Store,
    watch: ClockWatch,
    claim: StoreClaim,
    certificates: Certificates,
  ) {
    const { config, log } = options;
    const { clock } = watch;
    const uploads = new BlobUploads(store);
    this.#options = options;
    this.#store = store;
    this.#watch = watch;
    this.#claim = claim;
    this.#redis = new RedisHost({ config, store, log });
    this.#metering = Metering.of(config, store, log);
    const meters = this.#metering?.meters ?? NO_METERS;
    const shared = { config, store, uploads, clock, log, redis: this.#redis, meters };
    this.#parsing = new Parsing(shared);
    this.#rechecking = new Rechecking({ ...shared, authenticator: this.#parsing.pool });
    this.#searching = new Searching({ store, clock, log });
    this.#dns = new DnsClient(config.dns);
    this.#upkeep = new Upkeep({
      config,
      store,
      clock,
      log,
      dns: this.#dns,
      mailDigest: accountId => mailFeedbackDigest(this.#access.feedback, accountId),
    });
    const accepting = createInboundMail({
      store,
      uploads,
      clock,
      queue: this.#parsing.queue,
      mail: config.mail,
      limits: config.limits,
      authors: {
        rules: config.inbound,
        checks: new DataChecks(
          { store, authenticator: this.#parsing.pool, parser: this.#parsing.pool },
          { ...DATA_CHECK_LIMITS, answerMs: (config.inbound.dnsTimeoutS + 1) * 1000 },
        ),
      },
    });
    const inbound = meters.inbound(accepting);
    this.#listens = listenPlaces(config.smtp);
    const isDirect = config.relay.transport === 'direct';
    // What was accepted for delivery comes to its end, though others take the mail by now.
    this.#delivering =
      isDirect || isDeliveryWaiting(store)
        ? new Delivering({ ...shared, dns: this.#dns, inbound, listens: () => this.#listens })
        : null;
    this.#sending = new Sending({ ...shared, inbound, delivering: isDirect ? this.#delivering : null });
    this.#certificates = certificates;
    this.#smtp = createSmtpListener(config, { inbound, tls: certificates.identityOf('smtp'), log });
    const isQueueReady = (): boolean => this.#parsing.isQueueReady && this.#sending.isReady;
    const parsingStalledMs = (): number => this.#parsing.stalledMs;
    this.#readiness = new Readiness({ store, clock, isQueueReady, parsingStalledMs });
    const identity = store.read(reader => getMeta(reader, 'identity'));
    if (identity === undefined) throw new Error('the store has no identity: it was not migrated');
    this.#access = new Access({
      config,
      store,
      identity,
      clock,
      log,
      redis: this.#redis,
      relay: this.#sending.relay,
    });
    const cursors = new CursorCodec(identity.cursorSecret);
    const maxClients = httpClients(config, this.delivers, log);
    this.#events = createEvents(store, Math.ceil(maxClients * WAITING_SHARE));
    this.#hooking = new Hooking({
      ...shared,
      ...this.#events,
      version: options.version,
      news: this.#access.feedback,
      limiter: this.#access.limiter,
    });
    this.#http = createHttpListener(config, {
      send: this.#sending.deps,
      access: this.#access,
      events: this.#events,
      webhooks: this.#hooking.routes,
      search: { store, cursors, index: this.#searching.index, rankings: new Rankings() },
      isReady: () => this.#readiness.isReady(),
      tls: certificates.identityOf('http'),
      answerChallenge: certificates.answerChallenge,
      maxClients,
      version: options.version,
      onAnswered: meters.onAnswered,
      log,
    });
  }

  /** Does it deliver to other domains itself, be it only what was accepted before the transport was changed? */
  get delivers(): boolean {
    return this.#delivering !== null;
  }

  /**
   * Opens the store, recovers work that an earlier process left unfinished, and serves. Rejects when a part cannot
   * start; then the store is closed again.
   */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { config, version, log, onFatal, onProgress } = options;
    const store = await openMigratedStore({
      path: config.store.path,
      mapSizeBytes: config.store.mapSizeGib * 2 ** 30,
      diskFloorBytes: config.store.diskFloorMib * 2 ** 20,
      upgradesWithoutCopy: config.store.upgradeWithoutCopy,
      onFatal,
      onProgress,
    });
    const recovery = progressOf(store, onProgress);
    let watch: ClockWatch | undefined;
    let claim: StoreClaim | undefined;
    try {
      // Before anything is written: the last instant in the store is that of an earlier process.
      watch = await ClockWatch.start({ store, read: readClock, log });
      const { clock } = watch;
      claim = await claimStore(store, version, clock());
      await ensureOperator({ store, clock, mail: config.mail });
      const uploads = await recoverUploads({ store, clock });
      const messages = await recoverParsing({ store, clock });
      const sends = await recoverSends({ store, clock });
      if (uploads + messages + sends.unknown + sends.waiting + sends.held > 0) {
        log.info({ uploads, messages, sends }, 'an earlier process ended in the middle of work: it goes on');
      }
      const restored = viewRestored(store);
      if (restored?.is_held === true) log.warn(restored, HELD_WARNING);
      const certificates = await Certificates.read(config, { clock, version, log });
      const daemon = new Daemon(options, store, watch, claim, certificates);
      await daemon.#serve();
      return daemon;
    } catch (error) {
      await claim?.release().catch(() => {});
      await watch?.stop();
      await store.close();
      throw error;
    } finally {
      clearInterval(recovery);
    }
  }

  /** Gives signs of life to a service manager that asks for them. */
  watch(manager: ServiceManager | null): Watchdog | null {
    const limitMs = manager?.watchdogMs ?? null;
    if (manager === null || limitMs === null) return null;
    const { clock } = this.#watch;
    const { log } = this.#options;
    return new Watchdog({ store: this.#store, clock, log, limitMs, alive: () => manager.alive() });
  }

  /** Reads the certificate files again; new connections use them. Rejects when they are not valid. */
  reloadCertificates(): Promise<void> {
    return this.#certificates.reload();
  }

  /** An orderly stop takes less. After it, what is unfinished is left for the next start to recover. */
  get stopDeadlineMs(): number {
    return STOP_MS + (this.#delivering === null ? 0 : DOT_ANSWERS_MS);
  }

  /**
   * Stops in order: no new clients are accepted (SMTP answers 421), requests and messages in flight are finished,
   * unfinished parsing stays pending, the store is flushed and closed. Takes less than ten seconds, and up to a minute
   * more while mail servers owe answers to final dots.
   */
  async stop(): Promise<void> {
    const { log } = this.#options;
    const certificates = this.#certificates.stop();
    this.#sending.answerWithin(ANSWER_MS);
    const delivering = this.#delivering?.stop();
    const listeners = Promise.all([
      this.#smtp.stop(GRACE_MS),
      this.#http.stop(GRACE_MS),
      this.#metering?.stop(GRACE_MS),
    ]);
    this.#events.waiters.stop();
    await listeners;
    this.#events.feed.stop();
    log.debug({}, 'listeners are closed');
    const hooking = this.#hooking.stop();
    await this.#access.stop(ACCESS_GRACE_MS);
    const upkeep = this.#upkeep.stop();
    this.#dns.close();
    await Promise.all([
      this.#rechecking.stop().then(() => this.#parsing.stop()),
      this.#sending.stop(),
      delivering,
      hooking,
      this.#searching.stop(),
      upkeep,
      certificates,
    ]);
    await this.#redis.stop();
    await this.#claim.release();
    await this.#watch.stop();
    await this.#store.close();
    log.info({}, 'stopped');
  }

  async #startWork(): Promise<void> {
    await Promise.all([this.#redis.start(), this.#parsing.prepare()]);
    this.#parsing.start();
    this.#rechecking.start();
    this.#sending.start();
    this.#delivering?.start();
    this.#hooking.start();
    await this.#sending.whenReady(SENDING_READY_MS);
  }

  async #startFigures(): Promise<void> {
    await this.#metering?.start({
      store: this.#store,
      clock: this.#watch.clock,
      version: this.#options.version,
      smtp: () => this.#smtp.stats(),
      queues: () => ({ parse: this.#parsing.isQueueReady, relay: this.#sending.isReady }),
      certificates: () => this.#certificates.inForce,
      isReady: () => this.#readiness.isReady(),
    });
  }

  async #serve(): Promise<void> {
    const { config, version, log } = this.#options;
    const working = this.#startWork();
    // Awaited below; until then a failure must not count as an unhandled rejection.
    working.catch(() => {});
    const [smtp, http] = await Promise.all([this.#smtp.start(), this.#http.start(), this.#startFigures()]);
    this.#listens = listenPlaces({ ...config.smtp, port: smtp.port });
    await this.#certificates.start({
      smtp: identity => this.#smtp.reloadTls(identity),
      http: identity => this.#http.reloadTls(identity),
    });
    this.#upkeep.start();
    await this.#searching.start();
    await working;
    this.#access.start();
    this.#upkeep.startFilling();
    log.info(
      { version, smtp_port: smtp.port, http_port: http.port, domains: config.mail.domains, pid: process.pid },
      'postern is ready',
    );
    this.#sending.warmUp();
  }
}

/** How often it is looked whether a start has come further. */
const PROGRESS_MS = 1_000;

/** Tells of every look at which there are new commits: work that an earlier process left is done in steps. */
function progressOf(store: Store, onProgress: () => void): NodeJS.Timeout {
  let seen = store.lastCommit();
  return setInterval(() => {
    const last = store.lastCommit();
    if (last !== seen) onProgress();
    seen = last;
  }, PROGRESS_MS).unref();
}
