import type { IncomingMessage, ServerResponse } from 'node:http';
import { CertificateKeeper } from '../acme/certificate-keeper.js';
import { selfSigned } from '../acme/certificate-request.js';
import { acmeSettings, servedBy } from '../acme/settings.js';
import type { Config } from '../config/load-config.js';
import { CertificateFiles } from '../smtp/certificate-files.js';
import type { TlsIdentity } from '../smtp/options.js';
import type { Clock, Logger } from '../usecases/ports.js';

/** Who serves a certificate. */
export type Server = 'smtp' | 'http';

/** Gives a listener the certificate for its next connections. */
export type Reload = Readonly<Record<Server, (identity: TlsIdentity) => void>>;

/** Files that a certificate comes from, and who serves it. */
interface Source {
  readonly files: CertificateFiles;
  readonly servers: readonly Server[];
  /** Whether its files may be missing, until an authority has issued a certificate. */
  readonly mayBeMissing: boolean;
}

export interface CertificatesDeps {
  readonly clock: Clock;
  readonly version: string;
  readonly log: Logger;
}

/**
 * The certificates of the listeners: from files that others renew, or from an authority that is asked for them
 * (`acme/certificate-keeper.ts`). New ones reach the listeners while they run.
 */
export class Certificates {
  readonly keeper: CertificateKeeper | null;
  readonly #identities: Partial<Record<Server, TlsIdentity>> = {};
  readonly #sources: readonly Source[];
  readonly #log: Logger;
  #reload: Reload | null = null;

  private constructor(sources: readonly Source[], keeper: CertificateKeeper | null, log: Logger) {
    this.#sources = sources;
    this.keeper = keeper;
    this.#log = log;
  }

  /** Reads what is there. Rejects when files that are configured are not valid. */
  static async read(config: Config, { clock, version, log }: CertificatesDeps): Promise<Certificates> {
    const settings = acmeSettings(config);
    const keeper = settings === null ? null : new CertificateKeeper({ settings, clock, version, log });
    const { smtp, http } = config;
    const sources: Source[] = [];
    const fromFiles = (cert: string | null, key: string | null, server: Server): void => {
      if (cert === null || key === null) return;
      sources.push({
        files: new CertificateFiles({ cert, key }, log),
        servers: [server],
        mayBeMissing: false,
      });
    };
    fromFiles(smtp.tlsCert, smtp.tlsKey, 'smtp');
    if (http.tls === 'files') fromFiles(http.tlsCert, http.tlsKey, 'http');
    if (keeper !== null) {
      const { certificateFile: file } = keeper.folder;
      const files = new CertificateFiles({ cert: file, key: file }, log);
      sources.push({ files, servers: servedBy(config), mayBeMissing: true });
    }
    const certificates = new Certificates(sources, keeper, log);
    for (const source of sources) {
      const identity =
        (await certificates.#read(source)) ?? selfSigned(settings?.names ?? [config.mail.hostname], clock());
      for (const server of source.servers) certificates.#identities[server] = identity;
    }
    return certificates;
  }

  /** What a listener is to begin with; undefined: no certificate is configured for it. */
  identityOf(server: Server): TlsIdentity | undefined {
    return this.#identities[server];
  }

  /** By listener: the certificate that new connections get, with its chain (PEM). */
  get inForce(): Readonly<Record<string, TlsIdentity['cert']>> {
    return Object.fromEntries(Object.entries(this.#identities).map(([server, { cert }]) => [server, cert]));
  }

  /** For the HTTP listener behind a proxy; undefined when no certificate is got from an authority. */
  get answerChallenge(): ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined {
    const challenges = this.keeper?.challenges;
    return challenges === undefined ? undefined : (request, response) => challenges.answer(request, response);
  }

  /** From now on new certificates are given to the listeners, and are got where that is configured. */
  async start(reload: Reload): Promise<void> {
    this.#reload = reload;
    for (const source of this.#sources) source.files.watch(identity => this.#serve(source, identity));
    await this.keeper?.start(() =>
      this.reload().catch((error: unknown) => {
        this.#log.error({ err: error }, 'a certificate cannot be read');
      }),
    );
  }

  /** Reads all files again. Rejects when some are not valid; their listeners go on with what they have. */
  async reload(): Promise<void> {
    const faults: unknown[] = [];
    for (const source of this.#sources) {
      try {
        const identity = await this.#read(source);
        if (identity !== null) this.#serve(source, identity);
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
  }

  async stop(): Promise<void> {
    for (const { files } of this.#sources) files.stop();
    await this.keeper?.stop();
  }

  /** Null where there is none yet that can be served. */
  async #read({ files, mayBeMissing }: Source): Promise<TlsIdentity | null> {
    if (!mayBeMissing) return files.read();
    if (this.keeper?.folder.issued() === null) return null;
    try {
      return await files.read();
    } catch (error) {
      this.#log.error({ err: error }, 'the certificate in the data folder cannot be served');
      return null;
    }
  }

  #serve({ servers }: Source, identity: TlsIdentity): void {
    for (const server of servers) {
      this.#identities[server] = identity;
      this.#reload?.[server](identity);
    }
  }
}
