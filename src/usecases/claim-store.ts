import { readFileSync } from 'node:fs';
import { type DaemonLease, getMeta, putMeta, removeDaemonLease } from '../store/meta.js';
import type { Store } from '../store/store.js';

/** Another daemon serves this store. */
export class StoreInUseError extends Error {
  constructor(lease: DaemonLease) {
    super(
      `another postern daemon (pid ${lease.pid}) serves this data directory. Stop it first, or give this one its own store.path.`,
    );
    this.name = 'StoreInUseError';
  }
}

/**
 * Makes this process the one daemon of the store. The lease of a process that has ended, however it
 * ended, counts for nothing: it is told from a living one by pid and start time.
 * @throws StoreInUseError
 */
export async function claimStore(store: Store, version: string, nowMs: number): Promise<void> {
  const own: DaemonLease = {
    pid: process.pid,
    startTicks: startTicks(process.pid) ?? '',
    startedAt: nowMs,
    version,
  };
  await store.write(writer => {
    const lease = getMeta(writer, 'daemon');
    if (lease !== undefined && lease.pid !== process.pid && isAlive(lease)) throw new StoreInUseError(lease);
    putMeta(writer, 'daemon', own);
  });
}

/** Gives the store back at an orderly end. */
export async function releaseStore(store: Store): Promise<void> {
  await store.write(writer => {
    if (getMeta(writer, 'daemon')?.pid === process.pid) removeDaemonLease(writer);
  });
}

/** The daemon that serves the store now, or null. */
export function currentDaemon(store: Store): DaemonLease | null {
  const lease = store.read(reader => getMeta(reader, 'daemon'));
  return lease !== undefined && isAlive(lease) ? lease : null;
}

function isAlive(lease: DaemonLease): boolean {
  return startTicks(lease.pid) === lease.startTicks;
}

/** Field 22 of `/proc/PID/stat` (proc(5)); null when there is no such process. */
function startTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
