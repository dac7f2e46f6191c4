import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/*
 * Files and folders for their owner alone. Root makes them in folders of other users too, who may put symbolic links
 * where it is going to write: none of theirs is followed, and what is given away is the very file that was made.
 */

export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/** A handle that only names a folder (open(2)); Node has no constant for it. */
const O_PATH = 0o10000000;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** What link(2) says on a file system without hard links. */
const HAS_NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Like the kernel (path_resolution(7)). */
const MAX_LINKS = 40;

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** A symbolic link of somebody else stands on the path: what root does there could be led anywhere. */
export class ForeignLinkError extends Error {
  override readonly name = 'ForeignLinkError';
}

/** There is a file of that name already. */
export class FileExistsError extends Error {
  override readonly name = 'FileExistsError';
}

/**
 * A folder that is held open: what is done in it is done there, whatever becomes of the path meanwhile. Root follows only
 * links of its own on the path, where nobody else could have put others in their place.
 */
export class Folder {
  /** Without symbolic links. */
  readonly path: string;
  readonly #handle: number;

  private constructor(path: string, handle: number) {
    this.path = path;
    this.#handle = handle;
  }

  /**
   * Opens a folder.
   * @throws ForeignLinkError, and what the system says when it is missing or none
   */
  static open(path: string): Folder {
    return Folder.#walk(path, false);
  }

  /**
   * Opens a folder; what is missing of it is made with `PRIVATE_FOLDER`. Root makes each part for the owner of the one
   * that it lies in.
   * @throws as `open` does
   */
  static make(path: string): Folder {
    return Folder.#walk(path, true);
  }

  static #walk(path: string, makesMissing: boolean): Folder {
    let links = 0;
    let folder = new Folder('/', openSync('/', O_PATH | O_DIRECTORY));
    const names = partsOf(resolve(path));
    try {
      for (let name = names.shift(); name !== undefined; name = names.shift()) {
        const target = folder.#ownLinkAt(name);
        if (target === null) {
          folder = folder.#enter(name, makesMissing);
          continue;
        }
        links += 1;
        if (links > MAX_LINKS) throw new Error(`${path} has too many symbolic links`);
        names.unshift(...partsOf(resolve(folder.path, target)));
        folder = folder.#replacedBy(new Folder('/', openSync('/', O_PATH | O_DIRECTORY)));
      }
      return folder;
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /** Where a link leads that may be followed; null when there is none of that name. */
  #ownLinkAt(name: string): string | null {
    const link = lstatSync(this.at(name), { throwIfNoEntry: false });
    if (link?.isSymbolicLink() !== true) return null;
    if (process.geteuid?.() === 0 && (link.uid !== 0 || this.owner().uid !== 0)) {
      throw new ForeignLinkError(
        `${join(this.path, name)} is a symbolic link that another user than root can change: root does not follow it`,
      );
    }
    return readlinkSync(this.at(name));
  }

  /** The folder in this one, which is closed. */
  #enter(name: string, makesMissing: boolean): Folder {
    const isNew = makesMissing && this.#makeFolder(name);
    const handle = this.#act(() => openSync(this.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW));
    const inner = new Folder(join(this.path, name), handle);
    if (isNew) inner.#giveTo(this.owner());
    return this.#replacedBy(inner);
  }

  #makeFolder(name: string): boolean {
    try {
      this.#act(() => mkdirSync(this.at(name), PRIVATE_FOLDER));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  }

  /** Root gives a folder away that it has just made; were another put in its place, it would not be empty. */
  #giveTo({ uid, gid }: Owner): void {
    if (process.geteuid?.() !== 0 || uid === 0) return;
    if (readdirSync(this.at('.')).length === 0) chownSync(this.at('.'), uid, gid);
  }

  #replacedBy(other: Folder): Folder {
    this.close();
    return other;
  }

  owner(): Owner {
    const { uid, gid } = this.#facts();
    return { uid, gid };
  }

  #facts(): Stats {
    return fstatSync(this.#handle);
  }

  /** The path of an entry of this folder, which is good while it is open. */
  at(name: string): string {
    return `${this.#self}/${name}`;
  }

  get #self(): string {
    return `/proc/self/fd/${this.#handle}`;
  }

  /** What goes wrong is told with the path that people know. */
  #act<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof Error)
        error.message = error.message.replaceAll(`${this.#self}/`, join(this.path, '/'));
      throw error;
    }
  }

  /**
   * Makes a file under a name that nobody can foresee, and gives it to `owner`.
   * @returns its name
   */
  writeDraft(
    data: string | Uint8Array,
    options: { readonly mode: number; readonly owner: Owner | null },
  ): string {
    const name = `.new-${randomBytes(12).toString('hex')}`;
    const handle = this.createFile(name);
    try {
      writeFileSync(handle, data);
      if (options.owner !== null) fchownSync(handle, options.owner.uid, options.owner.gid);
      // Whatever the umask is.
      fchmodSync(handle, options.mode);
      fsyncSync(handle);
    } catch (error) {
      this.remove(name);
      throw error;
    } finally {
      closeSync(handle);
    }
    return name;
  }

  /**
   * Makes a file for its owner alone.
   * @returns its handle, open for writing, for the caller to close
   */
  createFile(name: string): number {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    return this.#act(() => openSync(this.at(name), flags, PRIVATE_FILE));
  }

  /** Renames a file of this folder. What had the name before is replaced; if it is a link, the link and not its target. */
  replace(draft: string, name: string): void {
    this.#act(() => renameSync(this.at(draft), this.at(name)));
  }

  /**
   * Renames a file of this folder to a name that is free.
   * @throws FileExistsError also when the name is that of a link that leads nowhere
   */
  publish(draft: string, name: string): void {
    try {
      this.#act(() => linkSync(this.at(draft), this.at(name)));
      this.remove(draft);
    } catch (error) {
      const isTaken =
        codeOf(error) === 'EEXIST' || lstatSync(this.at(name), { throwIfNoEntry: false }) !== undefined;
      if (isTaken) throw new FileExistsError(`${join(this.path, name)} exists already`);
      if (!HAS_NO_LINKS.has(codeOf(error) ?? '')) throw error;
      this.replace(draft, name);
    }
  }

  remove(name: string): void {
    rmSync(this.at(name), { force: true });
  }

  /** Closes it to everybody but its owner, who must be this user. */
  makePrivate(): void {
    const { uid, mode } = this.#facts();
    if (uid !== process.geteuid?.()) {
      throw new Error(`${this.path} belongs to user ${uid}, and not to the one that this process runs as`);
    }
    if ((mode & 0o777) !== PRIVATE_FOLDER) chmodSync(this.at('.'), PRIVATE_FOLDER);
  }

  close(): void {
    closeSync(this.#handle);
  }
}

/**
 * Makes a folder where there is none, and closes it to everybody but its owner, who must be this user.
 * @returns its path without symbolic links
 */
export function privateFolder(path: string): string {
  const folder = Folder.make(path);
  try {
    folder.makePrivate();
    return folder.path;
  } finally {
    folder.close();
  }
}

/** Writes a file anew that only its owner can read. Its folder must be private. */
export function writePrivateFile(path: string, data: string | Uint8Array): void {
  const folder = Folder.open(dirname(path));
  try {
    const draft = folder.writeDraft(data, { mode: PRIVATE_FILE, owner: null });
    folder.replace(draft, path.slice(path.lastIndexOf('/') + 1));
  } finally {
    folder.close();
  }
}

/** Takes the rights of others off the files of a private folder: they may be of a time when they had some. */
export function makeFilesPrivate(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = join(folder, entry.name);
    if (entry.isFile() && (lstatSync(file).mode & 0o077) !== 0) chmodSync(file, PRIVATE_FILE);
  }
}

/** Flushes a file, or the names in a directory. */
export function flush(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter(part => part !== '');
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
