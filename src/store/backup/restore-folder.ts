import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Presence } from '../engine/meta.js';
import { PRIVATE_FOLDER, privateFolder } from '../private-files.js';

/** Where stores are made of backups, inside the data directory: on its disk, and whoever restores may write there. */
export const STAGING = 'restoring';
const SOCKET = '.sock';

/** What one restore makes lies here and nowhere else. */
export interface RestoreFolder {
  readonly path: string;
  /** Removes it, and nothing of other restores. */
  remove(): Promise<void>;
}

/**
 * Makes the folder of one restore. It has the name of a socket beside it by which this process shows that it lives, and
 * which is there first: a folder whose socket is silent belongs to nobody. Such ones are removed.
 */
export async function makeRestoreFolder(dataDirectory: string): Promise<RestoreFolder> {
  const { staging, presence } = await showIn(join(dataDirectory, STAGING));
  const path = join(staging, presence.name.slice(0, -SOCKET.length));
  const remove = async (): Promise<void> => {
    try {
      rmSync(path, { recursive: true, force: true });
    } finally {
      await presence.hide();
      removeIfEmpty(staging);
    }
  };
  try {
    mkdirSync(path, PRIVATE_FOLDER);
    await removeDead(staging, name => name.startsWith('restore-') && !name.endsWith(SOCKET));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

const MOST_TRIES = 10;

/** Another restore that ends may take the folder away before anything is in it: then it is made again. */
async function showIn(folder: string): Promise<{ readonly staging: string; readonly presence: Presence }> {
  for (let tries = 1; ; tries++) {
    try {
      const staging = privateFolder(folder);
      return { staging, presence: await Presence.show(staging, 'restore') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === MOST_TRIES) throw error;
    }
  }
}

/** Removes what restores have left that were killed. For whoever has claimed the store that is there by now. */
export async function removeDeadRestores(dataDirectory: string): Promise<void> {
  const staging = join(dataDirectory, STAGING);
  if (lstatSync(staging, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  await removeDead(staging, () => true);
  removeIfEmpty(staging);
}

async function removeDead(staging: string, isLookedAt: (name: string) => boolean): Promise<void> {
  for (const name of readdirSync(staging).filter(isLookedAt)) {
    const socket = name.endsWith(SOCKET) ? name : `${name}${SOCKET}`;
    if (await Presence.isShown(staging, socket)) continue;
    rmSync(join(staging, name), { recursive: true, force: true });
    Presence.forget(staging, socket);
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another restore is under way.
  }
}
