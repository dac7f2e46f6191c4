import { join } from 'node:path';
import { removeUnfinishedCopy } from '../../store/compact-store.js';
import { type DaemonLease, getMeta, Presence, putMeta, removeDaemonLease } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import { removeUnfinishedUpgrades } from '../../store/open-store.js';
import { removeDeadFolders } from '../../store/own-folder.js';

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
export interface StoreClaim {
  release(): Promise<void>;
}

/**
 * Makes this process the one daemon of the store. The lease of a process that has ended, however it
 * ended, counts for nothing. Of two that start at once one gets it: the lease that was seen dead is
 * replaced in a unit of work, by whoever finds it unchanged.
 * @throws StoreInUseError
 */
export async function claimStore(store: Store, version: string, nowMs: number): Promise<StoreClaim> {
  const presence = await Presence.show(store.path);
  const own: DaemonLease = { pid: process.pid, socket: presence.name, startedAt: nowMs, version };
  try {
    while (!(await replaceDeadLease(store, own)));
  } catch (error) {
    await presence.hide();
    throw error;
  }
  store.trustFile();
  removeUnfinishedCopy(store);
  await removeLeftovers(store.path);
  return {
    release: async () => {
      await store.write(writer => {
        if (getMeta(writer, 'daemon')?.socket === own.socket) removeDaemonLease(writer);
      }, 'settle');
      await presence.hide();
    },
  };
}

/** Of restores and upgrades that were killed. Here is a store, of the newest schema, so no other will come of them. */
export async function removeLeftovers(path: string): Promise<void> {
  await removeDeadFolders(join(path, 'restoring'), () => true);
  await removeUnfinishedUpgrades(path);
}

/** False when another process replaced it first: look again. */
async function replaceDeadLease(store: Store, own: DaemonLease): Promise<boolean> {
  const seen = store.read(reader => getMeta(reader, 'daemon'));
  if (seen !== undefined && (await isAlive(store, seen))) throw new StoreInUseError(seen);
  const isReplaced = await store.write(writer => {
    if (getMeta(writer, 'daemon')?.socket !== seen?.socket) return false;
    putMeta(writer, 'daemon', own);
    return true;
  }, 'settle');
  if (isReplaced && seen !== undefined) Presence.forget(store.path, seen.socket);
  return isReplaced;
}

/** The daemon that serves the store now, or null. */
export async function currentDaemon(store: Store): Promise<DaemonLease | null> {
  const lease = store.read(reader => getMeta(reader, 'daemon'));
  return lease !== undefined && (await isAlive(store, lease)) ? lease : null;
}

function isAlive(store: Store, lease: DaemonLease): Promise<boolean> {
  return Presence.isShown(store.path, lease.socket);
}
