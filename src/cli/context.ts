import { type ConfigProblem, formatProblem } from '../config/config-problem.js';
import { type Config, type LoadedConfig, loadConfig } from '../config/load-config.js';
import { reasonOf } from '../lib/async.js';
import { type Store, storeExists } from '../store/engine/store.js';
import { NewerSchemaError, openMigratedStore } from '../store/open-store.js';
import { Folder, ForeignLinkError, type Owner } from '../store/private-files.js';
import type { DefaultLimits } from '../usecases/accounts/accounts.js';
import type { Clock } from '../usecases/ports.js';
import { storedClock } from '../usecases/upkeep/watch-clock.js';
import type { CliDependencies } from './dependencies.js';
import { type CommandRefusal, failed } from './outcome.js';

/** What a command that works on the store is given. */
export interface Box {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: DefaultLimits;
}

export type Loaded = Extract<LoadedConfig, { ok: true }>;

/** Reads the configuration file that `--config` names, or the default one. */
export function readConfig(deps: CliDependencies, file: string | undefined): Loaded {
  const loaded = loadConfig({ env: deps.env, cwd: deps.cwd, ...(file === undefined ? {} : { file }) });
  if (!loaded.ok) throw configurationFailure(loaded.problems);
  return loaded;
}

export function configurationFailure(problems: readonly ConfigProblem[]): CommandRefusal {
  const lines = problems.map(formatProblem);
  const head = lines.length === 1 ? [] : [`the configuration has ${lines.length} problems:`];
  return failed('invalid_configuration', [...head, ...lines].join('\n'), { problems });
}

export interface OpenOptions {
  /** Whether to create an empty store where there is none; if false, that is an error. */
  readonly makesStore: boolean;
  /** Called before the process becomes the owner of the data directory: root may read more. */
  readonly before?: (loaded: Loaded) => void;
}

/**
 * Opens the store of a configuration, as the owner of the data directory. This works while the daemon runs: LMDB
 * supports several processes.
 */
export async function openBox(
  config: Config,
  options: OpenOptions,
): Promise<{ readonly box: Box; readonly isNew: boolean }> {
  const { path, mapSizeGib, diskFloorMib, upgradeWithoutCopy } = config.store;
  becomeOwnerOf(path, options);
  const isNew = !storeExists(path);
  if (isNew && !options.makesStore) {
    throw failed(
      'no_store',
      `There is no store in ${path}, or it is out of reach. If store.path is right, "postern init" or "postern serve" makes one; if there is one, run this as root or as its owner.`,
    );
  }
  try {
    const store = await openMigratedStore({
      path,
      mapSizeBytes: mapSizeGib * 2 ** 30,
      diskFloorBytes: diskFloorMib * 2 ** 20,
      upgradesWithoutCopy: upgradeWithoutCopy,
    });
    const { inboxes, sends, storageMib } = config.limits;
    const limits = { inboxes, sends, storageMib };
    return { box: { config, store, clock: storedClock(store), limits }, isNew };
  } catch (error) {
    throw failed('store_unavailable', `The store in ${path} cannot be opened: ${adviceFor(error)}`);
  }
}

/**
 * Run as root, switches to the owner of the data directory, which `makesStore` makes where there is none. A command
 * error when the system refuses, or when another user could lead root elsewhere.
 */
export function becomeOwnerOf(path: string, { makesStore }: OpenOptions): void {
  try {
    becomeOwner(path, makesStore);
  } catch (error) {
    if (error instanceof ForeignLinkError) {
      throw failed('not_permitted', `${error.message}. Name the directory that is meant in store.path.`);
    }
    throw failed(
      'not_permitted',
      `This process is root but cannot become the owner of ${path} (${reasonOf(error)}). Run it as that user instead.`,
    );
  }
}

function adviceFor(error: unknown): string {
  if (error instanceof NewerSchemaError) return error.message;
  const reason = reasonOf(error);
  if (/EACCES|EPERM|EROFS|permission denied/i.test(reason)) {
    return `${reason}. Run this as root or as the user that owns that directory.`;
  }
  return `${reason}. Check store.path and the disk it lies on.`;
}

/** The type declarations of Node 20 leave it out. */
type WithInitgroups = typeof process & { initgroups?: (user: number, extraGroup: number) => void };

/**
 * Run as root, the process switches to the owner of `directory` for good, so that the daemon can access whatever it
 * creates there. Without the directory, or as another user, nothing changes.
 * @param makesIt whether to make the directory where there is none, for the owner of the one that it lies in
 * @throws ForeignLinkError, or what the system says when it refuses
 */
function becomeOwner(directory: string, makesIt: boolean): void {
  if (process.getuid?.() !== 0) return;
  const owner = ownerOf(directory, makesIt);
  if (owner === null || owner.uid === 0) return;
  takeGroupsOf(owner.uid, owner.gid);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
}

/** Null when there is no directory; errors of the path are reported later, by whatever opens it. */
function ownerOf(directory: string, makesIt: boolean): Owner | null {
  let folder: Folder;
  try {
    folder = makesIt ? Folder.make(directory) : Folder.open(directory);
  } catch (error) {
    if (error instanceof ForeignLinkError) throw error;
    return null;
  }
  const owner = folder.owner();
  folder.close();
  return owner;
}

/** A user without an entry in the user database gets the directory's group only. */
function takeGroupsOf(uid: number, gid: number): void {
  try {
    (process as WithInitgroups).initgroups?.(uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_UNKNOWN_CREDENTIAL') throw error;
    process.setgroups?.([gid]);
  }
}
