import { statSync } from 'node:fs';

/** The type declarations of Node 20 leave it out. */
type WithInitgroups = typeof process & { initgroups?: (user: number, extraGroup: number) => void };

/**
 * Run as root, the process becomes the owner of `directory` for the rest of its life, so that nothing it
 * makes in there is out of the daemon's reach. Without the directory, or as another user, it stays what it is.
 * @throws when the system refuses
 */
export function becomeOwner(directory: string): void {
  if (process.getuid?.() !== 0) return;
  const owner = ownerOf(directory);
  if (owner === undefined || owner.uid === 0) return;
  takeGroupsOf(owner.uid, owner.gid);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
}

/** Undefined when it is not there; a path that cannot be is told of by whoever opens it. */
function ownerOf(directory: string): { uid: number; gid: number } | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A user without an entry in the user database has no groups but the directory's. */
function takeGroupsOf(uid: number, gid: number): void {
  try {
    (process as WithInitgroups).initgroups?.(uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_UNKNOWN_CREDENTIAL') throw error;
    process.setgroups?.([gid]);
  }
}
