import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `sun_path` holds 108 bytes with its final NUL (unix(7)); connecting to a longer path fails. */
const LONGEST_SOCKET_PATH = 107;
const SOCKET_NAME = 'redis.sock';

/** The folder of the managed Redis, made when absent; absolute and without symbolic links. */
export function prepareRedisFolder(dataDir: string): string {
  const folder = join(dataDir, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

export interface SocketPlace {
  readonly path: string;
  /** A private folder that was made for the socket alone; to be removed after use. */
  readonly temporaryFolder: string | null;
}

/** Where the socket goes: into the folder, or into a short private one when its path would be too long. */
export function placeSocket(folder: string): SocketPlace {
  const path = join(folder, SOCKET_NAME);
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return { path, temporaryFolder: null };
  // mkdtemp makes it 0700: nobody else can put a socket of theirs in its place.
  const temporaryFolder = mkdtempSync(join(tmpdir(), 'postern-redis-'));
  const short = join(temporaryFolder, SOCKET_NAME);
  if (Buffer.byteLength(short) > LONGEST_SOCKET_PATH) {
    rmSync(temporaryFolder, { recursive: true, force: true });
    throw new Error(`the path of Redis's socket is too long: neither ${path} nor ${short} fits`);
  }
  return { path: short, temporaryFolder };
}

/** Does what Redis said before it ended blame its own files? */
export function blamesOwnFiles(output: readonly string[]): boolean {
  const text = output.join('\n');
  if (/no space left|permission denied|read-only file system/i.test(text)) return false;
  return /append.?only|\bAOF\b|manifest|\bRDB\b|loading the DB|DB from (disk|file)|bad file format|wrong signature/i.test(
    text,
  );
}

const OWN_FILES = ['appendonlydir', 'dump.rdb'];

/**
 * Moves what Redis saved out of its way, into `damaged/` (the last such case is kept, for whoever wants to
 * look). Nothing of worth is lost: Redis holds ids that the store can list. Returns false when there was
 * nothing to move.
 */
export function moveOwnFilesAside(folder: string): boolean {
  const present = OWN_FILES.filter(name => existsSync(join(folder, name)));
  if (present.length === 0) return false;
  const aside = join(folder, 'damaged');
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { mode: 0o700 });
  for (const name of present) renameSync(join(folder, name), join(aside, name));
  return true;
}
