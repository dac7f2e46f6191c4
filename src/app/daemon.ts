import type { Config } from '../config/config.js';
import { CursorCodec } from '../domain/cursor.js';
import { HttpServer } from '../http/http-server.js';
import { healthRoutes } from '../http/routes/health.js';
import { inboxRoutes } from '../http/routes/inboxes.js';
import { labelRoutes } from '../http/routes/labels.js';
import { messageRoutes } from '../http/routes/messages.js';
import { trashRoutes } from '../http/routes/trash.js';
import { CertificateFiles } from '../smtp/certificate-files.js';
import { SmtpListener } from '../smtp/smtp-listener.js';
import {
  type SmtpListenerOptions,
  smtpListenerDefaults,
  type TlsIdentity,
} from '../smtp/smtp-listener-options.js';
import { BlobUploads } from '../store/blob-upload.js';
import { getMeta } from '../store/meta.js';
import { openMigratedStore } from '../store/migrate.js';
import type { Store } from '../store/store.js';
import { createInboundMail } from '../usecases/accept-message.js';
import { authenticate } from '../usecases/api-keys.js';
import { claimStore, type StoreClaim } from '../usecases/claim-store.js';
import { ensureOperator } from '../usecases/ensure-operator.js';
import type { Clock, Logger } from '../usecases/ports.js';
import { recoverParsing } from '../usecases/recover-parsing.js';
import { recoverUploads, sweep } from '../usecases/sweep.js';
import { Sweeper } from '../workers/sweeper.js';
import { Parsing } from './parsing.js';
import { Readiness } from './readiness.js';

export interface DaemonOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  /** The store failed: nothing can be promised any more, the process is to end. */
  readonly onFatal: (error: unknown) => void;
}

/**
 * Deletions are freed within this time. Short, so that the space is there for the mail that comes next: what is
 * deleted and not yet freed makes the file grow. A look that finds nothing costs some microseconds.
 */
const SWEEP_INTERVAL_MS = 250;
/** Clients with a request or a message in hand may finish it for so long when the daemon stops. */
const GRACE_MS = 4_000;

const clock: Clock = () => Date.now();

/**
 * The whole appliance: assembled here, started in the order in which things depend on each other, stopped
 * in the reverse one. Listeners open before Redis is there: mail is accepted and read without it.
 */
export class Daemon {
  readonly #options: DaemonOptions;
  readonly #store: Store;
  readonly #claim: StoreClaim;
  readonly #parsing: Parsing;
  readonly #sweeper: Sweeper;
  readonly #certificate: CertificateFiles | null;
  readonly #smtp: SmtpListener;
  readonly #http: HttpServer;

  private constructor(
    options: DaemonOptions,
    store: Store,
    claim: StoreClaim,
    certificate: Certificate | null,
  ) {
    const { config, log } = options;
    const uploads = new BlobUploads(store);
    this.#options = options;
    this.#store = store;
    this.#claim = claim;
    this.#parsing = new Parsing({ config, store, uploads, clock, log });
    this.#sweeper = new Sweeper({
      run: shouldStop => sweep({ store, clock }, shouldStop),
      intervalMs: SWEEP_INTERVAL_MS,
      log,
    });
    const inbound = createInboundMail({
      store,
      uploads,
      clock,
      queue: this.#parsing.queue,
      mail: config.mail,
    });
    this.#certificate = certificate?.files ?? null;
    this.#smtp = new SmtpListener(smtpOptions(config, certificate?.identity), inbound, log);
    const isQueueReady = (): boolean => this.#parsing.isQueueReady;
    const readiness = new Readiness({ store, clock, isQueueReady });
    this.#http = createHttpServer(config, store, log, () => readiness.isReady());
  }

  /** Opens the store, recovers what an earlier process left, and serves. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { config, version, log, onFatal } = options;
    const store = await openMigratedStore({
      path: config.store.path,
      mapSizeBytes: config.store.mapSizeGib * 2 ** 30,
      diskFloorBytes: config.store.diskFloorMib * 2 ** 20,
      onFatal,
    });
    let claim: StoreClaim | undefined;
    try {
      claim = await claimStore(store, version, clock());
      await ensureOperator({ store, clock, mail: config.mail });
      const uploads = await recoverUploads({ store, clock });
      const messages = await recoverParsing({ store, clock });
      if (uploads + messages > 0) {
        log.info({ uploads, messages }, 'an earlier process ended in the middle of work: it goes on');
      }
      const daemon = new Daemon(options, store, claim, await readCertificate(config, log));
      await daemon.#serve();
      return daemon;
    } catch (error) {
      await claim?.release().catch(() => {});
      await store.close();
      throw error;
    }
  }

  /** Serves sessions from now on with the certificate that the files hold now. */
  async reloadCertificates(): Promise<void> {
    if (this.#certificate !== null) this.#smtp.reloadTls(await this.#certificate.read());
  }

  /**
   * The orderly end: no new clients (SMTP is told 421), requests and messages in hand are finished, parse
   * jobs are returned, the store is flushed and closed. Takes less than ten seconds.
   */
  async stop(): Promise<void> {
    const { log } = this.#options;
    this.#certificate?.stop();
    await Promise.all([this.#smtp.stop(GRACE_MS), this.#http.stop(GRACE_MS)]);
    log.debug({}, 'listeners are closed');
    await Promise.all([this.#parsing.stop(), this.#sweeper.stop()]);
    await this.#claim.release();
    await this.#store.close();
    log.info({}, 'stopped');
  }

  async #serve(): Promise<void> {
    const { config, version, log } = this.#options;
    const parsing = this.#parsing.start();
    // Looked at below; until then a failure must not count as unhandled.
    parsing.catch(() => {});
    const [smtp, http] = await Promise.all([this.#smtp.start(), this.#http.start()]);
    this.#certificate?.watch(identity => this.#smtp.reloadTls(identity));
    this.#sweeper.start();
    await parsing;
    log.info(
      { version, smtp_port: smtp.port, http_port: http.port, domains: config.mail.domains, pid: process.pid },
      'postern is ready',
    );
  }
}

function createHttpServer(
  config: Config,
  store: Store,
  log: Logger,
  isReady: () => Promise<boolean>,
): HttpServer {
  const identity = store.read(reader => getMeta(reader, 'identity'));
  if (identity === undefined) throw new Error('the store has no identity: it was not migrated');
  const cursors = new CursorCodec(identity.cursorSecret);
  return new HttpServer({
    host: config.http.host,
    port: config.http.port,
    authenticate: credential => authenticate({ store }, credential),
    log,
    routes: [
      ...healthRoutes(isReady),
      ...inboxRoutes({
        store,
        clock,
        limits: config.limits,
        domains: config.mail.domains,
        reservedLocalParts: config.mail.reservedLocalParts,
        increaseRequest: config.service.increaseRequest,
        policyUrl: config.service.policyUrl,
      }),
      ...messageRoutes({ store, clock, cursors }),
      ...labelRoutes({ store, cursors }),
      ...trashRoutes({ store, clock, cursors, retentionDays: config.trash.retentionDays }),
    ],
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
