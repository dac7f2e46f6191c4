import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type SmtpListenerOptions, smtpListenerDefaults } from '../../src/smtp/options.js';
import { SmtpListener } from '../../src/smtp/smtp-listener.js';
import type { Store } from '../../src/store/engine/store.js';
import { openMigratedStore } from '../../src/store/open-store.js';
import { BlobUploads } from '../../src/store/records/blob-upload.js';
import { ensureOperator } from '../../src/usecases/accounts/accounts.js';
import { createInboundMail } from '../../src/usecases/inbound/accept-message.js';
import { sweep } from '../../src/usecases/upkeep/sweep.js';
import { readFacts, type StoreFacts } from '../support/box/store-facts.js';
import { recordingLog } from '../support/redis/redis.js';

/** The one inbox of the house. */
export const HOUSE_ADDRESS = 'postmaster@example.org';

/** The listener on the real store, in this process: what it counts can be seen. */
export interface House {
  readonly listener: SmtpListener;
  readonly port: number;
  readonly store: Store;
  /** What is left when everything that is due has been swept. */
  facts(): Promise<StoreFacts>;
}

export async function openHouse(
  t: Test,
  options: Partial<SmtpListenerOptions> = {},
  domain = 'example.org',
): Promise<House> {
  const path = mkdtempSync(join(tmpdir(), 'house-'));
  const store = await openMigratedStore({
    path,
    mapSizeBytes: 2 ** 30,
    diskFloorBytes: 0,
    onFatal: error => t.fail('the store failed', { error }),
  });
  const mail = { domains: [domain], postmasterInbox: null };
  const limits = { inboxes: 2, sends: 25, storageMib: 2048 };
  const deps = { store, clock: Date.now, mail, limits };
  await ensureOperator(deps);
  const inbound = createInboundMail({ ...deps, uploads: new BlobUploads(store), queue: { offer: () => {} } });
  const listener = new SmtpListener(
    { ...smtpListenerDefaults, hostname: 'mx.example.org', host: '127.0.0.1', port: 0, ...options },
    inbound,
    recordingLog(),
  );
  const { port } = await listener.start();
  t.teardown(async () => {
    await listener.stop(0);
    await store.close();
    rmSync(path, { recursive: true, force: true });
  });
  return {
    listener,
    port,
    store,
    facts: async () => {
      // An abort is written behind what it forgets: a commit of our own comes after it.
      await store.write(() => undefined);
      await sweep({ store, clock: () => Date.now() + 1000 }, () => false);
      return readFacts(store);
    },
  };
}
