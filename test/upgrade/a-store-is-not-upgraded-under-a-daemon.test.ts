import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { MIGRATIONS, OlderDaemonError, openMigratedStore } from '../../src/store/open-store.js';
import { claimStore } from '../../src/usecases/upkeep/claim-store.js';

t.test('a program that would upgrade the store waits for the daemon to end', async t => {
  const path = await mkdtemp(join(tmpdir(), 'upgrade-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  const options = { path, mapSizeBytes: 2 ** 26, diskFloorBytes: 1 };
  const newer = [...MIGRATIONS, { name: 'next', up: () => {} }];

  const old = await openMigratedStore(options);
  const claim = await claimStore(old, '0.0.1', Date.now());
  await t.rejects(openMigratedStore(options, newer), OlderDaemonError);
  await (await openMigratedStore(options)).close();

  await claim.release();
  await old.close();
  await (await openMigratedStore(options, newer)).close();
  await t.rejects(openMigratedStore(options), /newer version/);
});
