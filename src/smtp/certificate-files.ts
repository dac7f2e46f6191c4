import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Logger } from '../usecases/ports.js';
import { checkTlsIdentity } from './mail-server.js';
import type { TlsIdentity } from './options.js';

/** Certificates are renewed weeks before they expire: a minute more does not matter. */
const POLL_MS = 60_000;

export interface CertificatePaths {
  /** PEM, with the chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/**
 * A certificate and its key on disk, and whether they have changed. Looked at by name once a minute, which
 * costs two `stat` calls and sees what watching a directory misses: links that are swapped (certbot),
 * mounts, network file systems. A pair that is half written or does not match is left alone until it
 * changes again, and the old one goes on serving.
 */
export class CertificateFiles {
  readonly #paths: CertificatePaths;
  readonly #log: Logger;
  /** What stood behind the paths when the pair was last read. */
  #seen = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(paths: CertificatePaths, log: Logger) {
    this.#paths = paths;
    this.#log = log;
  }

  /** The pair as it is now. Rejects when a file cannot be read or the two do not belong together. */
  async read(): Promise<TlsIdentity> {
    // Before the files are read: what is written meanwhile is seen as another change.
    this.#seen = await this.#fingerprint();
    const [cert, key] = await Promise.all([readFile(this.#paths.cert), readFile(this.#paths.key)]);
    checkTlsIdentity({ cert, key });
    return { cert, key };
  }

  /** Hands every good pair that comes after the last `read` to `onRenewed`. */
  watch(onRenewed: (identity: TlsIdentity) => void, pollMs = POLL_MS): void {
    this.#timer = setInterval(() => void this.#look(onRenewed), pollMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(onRenewed: (identity: TlsIdentity) => void): Promise<void> {
    if ((await this.#fingerprint()) === this.#seen) return;
    try {
      const identity = await this.read();
      onRenewed(identity);
      const expires = new X509Certificate(identity.cert).validTo;
      this.#log.info({ expires }, 'the renewed certificate serves new smtp sessions');
    } catch (error) {
      this.#log.error({ err: error }, 'the renewed certificate cannot be used: the old one stays');
    }
  }

  /** Names the two files themselves; links are followed. */
  async #fingerprint(): Promise<string> {
    return (await Promise.all([describe(this.#paths.cert), describe(this.#paths.key)])).join(' ');
  }
}

async function describe(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}`;
  } catch {
    return 'missing';
  }
}
