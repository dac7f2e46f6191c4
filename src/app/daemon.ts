import type { Config } from '../config/load-config.js';
import { DnsClient } from '../dns/dns-client.js';
import type { AccountId } from '../domain/ids.js';
import { CursorCodec } from '../domain/paging.js';
import { apiRoutes } from '../http/routes/api-routes.js';
import { HttpServer } from '../http/server/http-server.js';
import { readClock } from '../ops/read-clock.js';
import { type ListenPlace, listenPlaces } from '../relay/direct/own-addresses.js';
import { CertificateFiles } from '../smtp/certificate-files.js';
import { type SmtpListenerOptions, smtpListenerDefaults, type TlsIdentity } from '../smtp/options.js';
import { SmtpListener } from '../smtp/smtp-listener.js';
import { getMeta } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import { openMigratedStore } from '../store/open-store.js';
import { BlobUploads } from '../store/records/blob-upload.js';
import { ensureOperator } from '../usecases/accounts/accounts.js';
import { rememberingAuthenticator } from '../usecases/accounts/api-keys.js';
import { mailFeedbackDigest } from '../usecases/accounts/feedback.js';
import { maxQueuedMs } from '../usecases/dkim/limits.js';
import { DkimUpkeep } from '../usecases/dkim/look-for-records.js';
import { createInboundMail } from '../usecases/inbound/accept-message.js';
import { DATA_CHECK_LIMITS, DataChecks } from '../usecases/inbound/check-at-data.js';
import { recoverParsing } from '../usecases/inbound/index-message.js';
import { INBOXES_PER_DAY } from '../usecases/inboxes/create-inbox.js';
import type { Logger } from '../usecases/ports.js';
import { Rankings } from '../usecases/search/rankings.js';
import type { WordIndex } from '../usecases/search/word-index.js';
import { recoverSends } from '../usecases/sending/attempt.js';
import type { SendDeps } from '../usecases/sending/submit-send.js';
import { claimStore, type StoreClaim } from '../usecases/upkeep/claim-store.js';
import { ExcerptMaking } from '../usecases/upkeep/make-excerpts.js';
import { Redating } from '../usecases/upkeep/redate.js';
import { recoverUploads, sweep } from '../usecases/upkeep/sweep.js';
import { ClockWatch } from '../usecases/upkeep/watch-clock.js';
import { Sweeper } from '../workers/background.js';
import { Access } from './access.js';
import { Delivering, DOT_ANSWERS_MS, isDeliveryWaiting } from './delivering.js';
import { httpClients } from './descriptors.js';
import { Parsing } from './parsing.js';
import { Readiness } from './readiness.js';
import { Rechecking } from './rechecking.js';
import { RedisHost } from './redis-host.js';
import { Searching } from './searching.js';
import { Sending } from './sending.js';
import { withTools } from './tools.js';

export interface DaemonOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  /** The store has failed and nothing can be promised any more: the process must end. */
  readonly onFatal: (error: unknown) => void;
}

/**
 * How soon the space of deleted mail is freed. Soon, because until then new mail makes the file of the store grow. A
 * sweep that finds nothing takes some microseconds.
 */
const SWEEP_INTERVAL_MS = 250;
/** How soon the previews of mail from before are gone on with, once there is room again. */
const EXCERPTS_INTERVAL_MS = 5_000;
/** How soon keys that the command line made or ended are looked after. */
const DKIM_INTERVAL_MS = 5_000;
/** What an orderly stop takes at most, answers to final dots aside. */
const STOP_MS = 10_000;
/** How long clients may finish a request or a message when the daemon stops. */
const GRACE_MS = 4_000;
/** In this part of the grace, requests wait for the outcome of their send; then they are answered, not cut off. */
const ANSWER_MS = 3_000;
/** For mail with approval links that is being sent; if it is cut off, the human asks for another. */
const ACCESS_GRACE_MS = 1_000;

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
  readonly #sweeper: Sweeper;
  readonly #searching: Searching;
  /** Apart from the sweeper, because it takes its time. */
  readonly #excerpts: Sweeper;
  readonly #dns: DnsClient;
  /** Apart from the sweeper, because it waits for the DNS. */
  readonly #dkimKeys: Sweeper;
  readonly #certificate: CertificateFiles | null;
  readonly #smtp: SmtpListener;
  /** Its ports as they came to be, where the configuration leaves them open. */
  #listens: readonly ListenPlace[];
  readonly #http: HttpServer;
  readonly #access: Access;

  private constructor(
    options: DaemonOptions,
    store: Store,
    watch: ClockWatch,
    claim: StoreClaim,
    certificate: Certificate | null,
  ) {
    const { config, log } = options;
    const { clock } = watch;
    const uploads = new BlobUploads(store);
    this.#options = options;
    this.#store = store;
    this.#watch = watch;
    this.#claim = claim;
    this.#redis = new RedisHost({ config, store, log });
    const shared = { config, store, uploads, clock, log, redis: this.#redis };
    this.#parsing = new Parsing(shared);
    this.#rechecking = new Rechecking({ ...shared, authenticator: this.#parsing.pool });
    this.#searching = new Searching({ store, clock, log });
    const redating = new Redating({ store, clock });
    this.#sweeper = new Sweeper({
      run: async shouldStop => {
        await redating.run(shouldStop);
        const mailDigest = (accountId: AccountId) => mailFeedbackDigest(this.#access.feedback, accountId);
        await sweep({ store, clock, auditRetentionDays: config.audit.retentionDays, mailDigest }, shouldStop);
      },
      intervalMs: SWEEP_INTERVAL_MS,
      log,
    });
    const { attribution } = config.service;
    const excerpts = new ExcerptMaking({ store, log, attribution });
    this.#excerpts = new Sweeper({
      run: shouldStop => excerpts.run(shouldStop),
      intervalMs: EXCERPTS_INTERVAL_MS,
      log,
    });
    this.#dns = new DnsClient(config.dns);
    const dkim = new DkimUpkeep({
      store,
      clock,
      log,
      domains: config.mail.domains,
      dns: this.#dns,
      maxQueuedMs: maxQueuedMs(config),
    });
    this.#dkimKeys = new Sweeper({
      run: shouldStop => dkim.run(shouldStop),
      intervalMs: DKIM_INTERVAL_MS,
      log,
    });
    const inbound = createInboundMail({
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
    this.#listens = listenPlaces(config.smtp);
    const isDirect = config.relay.transport === 'direct';
    // What was accepted for delivery comes to its end, though others take the mail by now.
    this.#delivering =
      isDirect || isDeliveryWaiting(store)
        ? new Delivering({ ...shared, dns: this.#dns, inbound, listens: () => this.#listens })
        : null;
    this.#sending = new Sending({ ...shared, inbound, delivering: isDirect ? this.#delivering : null });
    this.#certificate = certificate?.files ?? null;
    this.#smtp = new SmtpListener(smtpOptions(config, certificate?.identity), inbound, log);
    const isQueueReady = (): boolean => this.#parsing.isQueueReady && this.#sending.isReady;
    const parsingStalledMs = (): number => this.#parsing.stalledMs;
    const readiness = new Readiness({ store, clock, isQueueReady, parsingStalledMs });
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
    const parts = { send: this.#sending.deps, access: this.#access, log, version: options.version };
    const cursors = new CursorCodec(identity.cursorSecret);
    const isReady = (): Promise<boolean> => readiness.isReady();
    const { index } = this.#searching;
    this.#http = createHttpServer(config, { ...parts, cursors, index, isReady, delivers: this.delivers });
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
    const { config, version, log, onFatal } = options;
    const store = await openMigratedStore({
      path: config.store.path,
      mapSizeBytes: config.store.mapSizeGib * 2 ** 30,
      diskFloorBytes: config.store.diskFloorMib * 2 ** 20,
      onFatal,
    });
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
      const daemon = new Daemon(options, store, watch, claim, await readCertificate(config, log));
      await daemon.#serve();
      return daemon;
    } catch (error) {
      await claim?.release().catch(() => {});
      await watch?.stop();
      await store.close();
      throw error;
    }
  }

  /** Reads the certificate files again; new SMTP sessions use them. Rejects when they are not valid. */
  async reloadCertificates(): Promise<void> {
    if (this.#certificate !== null) this.#smtp.reloadTls(await this.#certificate.read());
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
    this.#certificate?.stop();
    this.#sending.answerWithin(ANSWER_MS);
    const delivering = this.#delivering?.stop();
    await Promise.all([this.#smtp.stop(GRACE_MS), this.#http.stop(GRACE_MS)]);
    log.debug({}, 'listeners are closed');
    await this.#access.stop(ACCESS_GRACE_MS);
    const dkimKeys = this.#dkimKeys.stop();
    const excerpts = this.#excerpts.stop();
    this.#dns.close();
    await Promise.all([
      this.#rechecking.stop().then(() => this.#parsing.stop()),
      this.#sending.stop(),
      delivering,
      this.#sweeper.stop(),
      this.#searching.stop(),
      dkimKeys,
      excerpts,
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
    await this.#sending.whenReady(SENDING_READY_MS);
  }

  async #serve(): Promise<void> {
    const { config, version, log } = this.#options;
    const working = this.#startWork();
    // Awaited below; until then a failure must not count as an unhandled rejection.
    working.catch(() => {});
    const [smtp, http] = await Promise.all([this.#smtp.start(), this.#http.start()]);
    this.#listens = listenPlaces({ ...config.smtp, port: smtp.port });
    this.#certificate?.watch(identity => this.#smtp.reloadTls(identity));
    this.#sweeper.start();
    await this.#searching.start();
    this.#dkimKeys.start();
    await working;
    this.#access.start();
    this.#excerpts.start();
    log.info(
      { version, smtp_port: smtp.port, http_port: http.port, domains: config.mail.domains, pid: process.pid },
      'postern is ready',
    );
    this.#sending.warmUp();
  }
}

function createHttpServer(
  config: Config,
  parts: {
    readonly send: SendDeps;
    readonly access: Access;
    readonly cursors: CursorCodec;
    readonly index: WordIndex;
    readonly log: Logger;
    readonly version: string;
    readonly isReady: () => Promise<boolean>;
    readonly delivers: boolean;
  },
): HttpServer {
  const { send, access, cursors, index, log, version, isReady, delivers } = parts;
  const { store, clock } = send;
  return new HttpServer({
    host: config.http.host,
    port: config.http.port,
    authenticate: rememberingAuthenticator({ store }),
    log,
    visitors: access.visitors,
    connections: {
      maxClients: httpClients(config, delivers, log),
      maxClientsPerNetwork: config.http.maxClientsPerAddress,
      isProxy: address => access.visitors.isProxy(address),
    },
    pages: access.pages,
    routes: withTools(
      { config, version, store, log },
      apiRoutes({
        service: config.service,
        isReady,
        inboxes: {
          store,
          clock,
          limits: config.limits,
          domains: config.mail.domains,
          reservedLocalParts: config.mail.reservedLocalParts,
          increaseRequest: config.service.increaseRequest,
          policyUrl: config.service.policyUrl,
          perDay: INBOXES_PER_DAY,
        },
        send,
        search: { store, cursors, index, rankings: new Rankings() },
        retentionDays: config.trash.retentionDays,
        signup: access.signup,
        feedback: access.feedback,
      }),
    ),
  });
}

function smtpOptions(config: Config, tls: TlsIdentity | undefined): SmtpListenerOptions {
  return {
    ...smtpListenerDefaults,
    hostname: config.mail.hostname,
    host: config.smtp.host,
    port: config.smtp.port,
    maxMessageBytes: config.smtp.maxMessageBytes,
    maxClients: config.smtp.maxClients,
    maxClientsPerAddress: config.smtp.maxClientsPerAddress,
    idleTimeoutMs: config.smtp.idleTimeoutS * 1000,
    ...(tls === undefined ? {} : { tls }),
    ...(config.smtp.implicitTlsPort === 0 ? {} : { implicitTlsPort: config.smtp.implicitTlsPort }),
  };
}

interface Certificate {
  readonly files: CertificateFiles;
  readonly identity: TlsIdentity;
}

async function readCertificate(config: Config, log: Logger): Promise<Certificate | null> {
  const { tlsCert: cert, tlsKey: key } = config.smtp;
  if (cert === null || key === null) return null;
  const files = new CertificateFiles({ cert, key }, log);
  return { files, identity: await files.read() };
}
