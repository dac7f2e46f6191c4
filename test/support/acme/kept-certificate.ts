import { join } from 'node:path';
import type { Test } from 'tap';
import { CertificateKeeper } from '../../../src/acme/certificate-keeper.js';
import type { AcmeSettings } from '../../../src/acme/settings.js';
import { freePort } from '../redis/own-redis.js';
import { type RecordingLog, recordingLog, temporaryFolder } from '../redis/redis.js';
import { AcmeServer, type AcmeServerOptions } from './acme-server.js';

export const NAMES = ['mx.example.org', 'api.example.org'];

/** A certificate that is kept, the authority that issues it, and a clock that the test moves. */
export class KeptCertificate {
  readonly server: AcmeServer;
  readonly log: RecordingLog = recordingLog();
  readonly settings: AcmeSettings;
  nowMs = Date.now();
  readonly #t: Test;

  private constructor(t: Test, server: AcmeServer, settings: AcmeSettings) {
    this.#t = t;
    this.server = server;
    this.settings = settings;
  }

  static async create(t: Test, options: Omit<AcmeServerOptions, 'proofPort'> = {}): Promise<KeptCertificate> {
    const port = await freePort();
    const server = await AcmeServer.start(t, { ...options, proofPort: port });
    const settings: AcmeSettings = {
      names: NAMES,
      directoryUrl: server.directoryUrl,
      contactEmail: null,
      folder: join(temporaryFolder(t), 'tls'),
      host: '127.0.0.1',
      port,
    };
    return new KeptCertificate(t, server, settings);
  }

  /** As a process that begins; stopped after the test. */
  keeper(changes: Partial<AcmeSettings> = {}): CertificateKeeper {
    const settings = { ...this.settings, ...changes };
    const keeper = new CertificateKeeper({
      settings,
      clock: () => this.nowMs,
      version: '1.2.3',
      log: this.log,
    });
    this.#t.teardown(() => keeper.stop());
    return keeper;
  }

  /** One try, by a process that ends after it. */
  async obtain(changes: Partial<AcmeSettings> = {}, onStep = (_step: string): void => {}): Promise<void> {
    const keeper = this.keeper(changes);
    try {
      await keeper.obtain(onStep);
    } finally {
      await keeper.stop();
    }
  }
}
