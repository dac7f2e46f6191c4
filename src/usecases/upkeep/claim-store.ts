import { join } from 'node:path';
import { removeUnfinishedCopy } from '../../store/compact-store.js';
import { type DaemonLease, getMeta, Presence, removeDaemonLease } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import { removeUnfinishedUpgrades } from '../../store/open-store.js';
import { removeDeadFolders } from '../../store/own-folder.js';
import { claimLease, type Lease } from './claim-lease.js';

/** Another daemon serves this store. */
export class StoreInUseError extends Error {
  constructor(lease: DaemonLease) {
    super(
      `another postern daemon (pid ${lease.pid}) serves this data directory. Stop it first, or give this one its own store.path.`,
    );
    this.name = 'StoreInUseError';
  }
}

/** The right to be the one daemon of a store, until it is released or the process ends. */
export type StoreClaim = Lease;

/**
 * Makes this process the one daemon of the store.
 * @throws StoreInUseError
 */
export async function claimStore(store: Store, version: string, nowMs: number): Promise<StoreClaim> {
  const claim = await claimLease(store, {
    name: 'daemon',
    facts: { startedAt: nowMs, version },
    refusal: holder => new StoreInUseError(holder),
    remove: removeDaemonLease,
  });
  store.trustFile();
  removeUnfinishedCopy(store);
  await removeLeftovers(store.path);
  return claim;
}

/** Of restores and upgrades that were killed. Here is a store, of the newest schema, so no other will come of them. */
export async function removeLeftovers(path: string): Promise<void> {
  await removeDeadFolders(join(path, 'restoring'), () => true);
  await removeUnfinishedUpgrades(path);
}

/** The daemon that serves the store now, or null. */
export async function currentDaemon(store: Store): Promise<DaemonLease | null> {
  const lease = store.read(reader => getMeta(reader, 'daemon'));
  return lease !== undefined && (await Presence.isShown(store.path, lease.socket)) ? lease : null;
}
