import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Logger } from '../usecases/ports.js';
import { checkTlsIdentity } from './mail-server.js';
import type { TlsIdentity } from './options.js';

/** Certificates are renewed weeks before they expire, so a delay of a minute does not matter. */
const POLL_MS = 60_000;

export interface CertificatePaths {
  /** PEM, with the chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/**
 * Reads a certificate and its key from disk, and notices when they change. It polls the two paths with `stat` once a
 * minute, because watching directories misses swapped links (certbot), mounts and network file systems. A pair that is
 * half written or does not match is ignored until it changes again; the old pair stays in use.
 */
export class CertificateFiles {
  readonly #paths: CertificatePaths;
  readonly #log: Logger;
  /** The fingerprint of the files when the pair was last read. */
  #seen = `${MISSING} ${MISSING}`;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(paths: CertificatePaths, log: Logger) {
    this.#paths = paths;
    this.#log = log;
  }

  /** Reads the pair. Rejects when a file cannot be read or the two do not belong together. */
  async read(): Promise<TlsIdentity> {
    // Taken before the files are read, so that a write during the reading is noticed as another change.
    this.#seen = await this.#fingerprint();
    const [cert, key] = await Promise.all([readFile(this.#paths.cert), readFile(this.#paths.key)]);
    checkTlsIdentity({ cert, key });
    return { cert, key };
  }

  /** From now on calls `onRenewed` with every valid pair that differs from the last one read. */
  watch(onRenewed: (identity: TlsIdentity) => void, pollMs = POLL_MS): void {
    this.#timer = setInterval(() => void this.#look(onRenewed), pollMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One look at a time: on a slow disk a second one would find the same change. */
  async #look(onRenewed: (identity: TlsIdentity) => void): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if ((await this.#fingerprint()) !== this.#seen) await this.#take(onRenewed);
    } finally {
      this.#isLooking = false;
    }
  }

  async #take(onRenewed: (identity: TlsIdentity) => void): Promise<void> {
    try {
      const identity = await this.read();
      onRenewed(identity);
      const expires = new X509Certificate(identity.cert).validTo;
      this.#log.info({ expires }, 'the renewed certificate serves new connections');
    } catch (error) {
      this.#log.error({ err: error }, 'the renewed certificate cannot be used: the old one stays');
    }
  }

  /** Identifies the two files and their versions; links are followed. */
  async #fingerprint(): Promise<string> {
    return (await Promise.all([describe(this.#paths.cert), describe(this.#paths.key)])).join(' ');
  }
}

/** In place of the version of a file that is not there. */
const MISSING = 'missing';

async function describe(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}`;
  } catch {
    return MISSING;
  }
}
