import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Presence } from './engine/meta.js';
import { PRIVATE_FOLDER, privateFolder } from './private-files.js';

const SOCKET = '.sock';
const MOST_TRIES = 10;

/** What one run makes lies here and nowhere else, until it is complete. */
export interface OwnFolder {
  readonly path: string;
  /** Removes it if it is still there, and nothing of other runs. */
  remove(): Promise<void>;
}

/**
 * Makes a folder for one run inside another, which is made where there is none. It has the name of a socket beside it by
 * which this process shows that it lives, and which is there first: a folder whose socket is silent belongs to nobody.
 * Such ones of the same role are removed.
 */
export async function makeOwnFolder(parent: string, role: 'restore' | 'upgrade'): Promise<OwnFolder> {
  const { place, presence } = await showIn(parent, role);
  const path = join(place, presence.name.slice(0, -SOCKET.length));
  const remove = async (): Promise<void> => {
    try {
      rmSync(path, { recursive: true, force: true });
    } finally {
      await presence.hide();
      removeIfEmpty(place);
    }
  };
  try {
    mkdirSync(path, PRIVATE_FOLDER);
    await removeDeadFolders(place, name => name.startsWith(`${role}-`) && !name.endsWith(SOCKET));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

/** Another run that ends may take the parent away before anything is in it: then it is made again. */
async function showIn(
  parent: string,
  role: 'restore' | 'upgrade',
): Promise<{ readonly place: string; readonly presence: Presence }> {
  for (let tries = 1; ; tries++) {
    try {
      const place = privateFolder(parent);
      return { place, presence: await Presence.show(place, role) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === MOST_TRIES) throw error;
    }
  }
}

/**
 * Removes what runs have left that were killed.
 * @param isLookedAt which entries of the parent; a socket is one only for whoever knows that no run can begin now
 */
export async function removeDeadFolders(
  parent: string,
  isLookedAt: (name: string) => boolean,
): Promise<void> {
  if (lstatSync(parent, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(parent).filter(isLookedAt)) {
    const socket = name.endsWith(SOCKET) ? name : `${name}${SOCKET}`;
    if (await Presence.isShown(parent, socket)) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
    Presence.forget(parent, socket);
  }
  removeIfEmpty(parent);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it.
  }
}
