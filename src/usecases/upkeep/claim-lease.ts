import { type BackupLease, type DaemonLease, getMeta, Presence, putMeta } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';

interface Leases {
  readonly daemon: DaemonLease;
  readonly backup: BackupLease;
}

/** A right that one process has at a time, until it is released or the process ends. */
export interface Lease {
  release(): Promise<void>;
}

export interface LeaseRequest<Name extends keyof Leases> {
  readonly name: Name;
  /** What others are told of its holder. */
  readonly facts: Omit<Leases[Name], 'pid' | 'socket'>;
  /** What is thrown when a process that lives has it. */
  readonly refusal: (holder: Leases[Name]) => Error;
  readonly remove: (writer: Writer) => void;
}

/**
 * Takes a lease. That of a process that has ended, however it ended, counts for nothing. Of two that ask at once one gets
 * it: the lease that was seen dead is replaced in a unit of work, by whoever finds it unchanged.
 * @throws what `refusal` makes
 */
export async function claimLease<Name extends keyof Leases>(
  store: Store,
  request: LeaseRequest<Name>,
): Promise<Lease> {
  const { name, facts, remove } = request;
  const presence = await Presence.show(store.path, name);
  const own = { pid: process.pid, socket: presence.name, ...facts } as unknown as Leases[Name];
  try {
    while (!(await replaceDead(store, request, own)));
  } catch (error) {
    await presence.hide();
    throw error;
  }
  return {
    release: async () => {
      try {
        await store.write(writer => {
          if (getMeta(writer, name)?.socket === own.socket) remove(writer);
        }, 'settle');
      } finally {
        await presence.hide();
      }
    },
  };
}

/** False when another process replaced it first: look again. */
async function replaceDead<Name extends keyof Leases>(
  store: Store,
  { name, refusal }: LeaseRequest<Name>,
  own: Leases[Name],
): Promise<boolean> {
  const seen = store.read(reader => getMeta(reader, name)) as Leases[Name] | undefined;
  if (seen !== undefined && (await Presence.isShown(store.path, seen.socket))) throw refusal(seen);
  const isReplaced = await store.write(writer => {
    if (getMeta(writer, name)?.socket !== seen?.socket) return false;
    putMeta<keyof Leases>(writer, name, own);
    return true;
  }, 'settle');
  if (isReplaced && seen !== undefined) Presence.forget(store.path, seen.socket);
  return isReplaced;
}
