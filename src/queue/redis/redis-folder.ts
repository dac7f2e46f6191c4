import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateFolder, writePrivateFile } from '../../store/private-files.js';
import type { Logger } from '../../usecases/ports.js';
import { findProcesses, isAlive, type ProcessFacts, readProcess } from './redis-process.js';

/** `sun_path` holds 108 bytes with its final NUL (unix(7)); connecting to a longer path fails. */
const LONGEST_SOCKET_PATH = 107;
const SOCKET_NAME = 'redis.sock';

/** Creates the folder of the managed Redis if necessary. Returns its absolute path without symbolic links. */
export function prepareRedisFolder(dataDir: string): string {
  return privateFolder(join(dataDir, 'redis'));
}

export interface SocketPlace {
  readonly path: string;
  /** A private folder that was created for the socket alone and must be removed after use. */
  readonly temporaryFolder: string | null;
}

/**
 * Where the socket goes: into the folder, or into a private temporary folder when its path would be too long. Throws
 * when that path is too long as well.
 */
export function placeSocket(folder: string): SocketPlace {
  const path = join(folder, SOCKET_NAME);
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return { path, temporaryFolder: null };
  // mkdtemp creates it with mode 0700: nobody else can replace the socket.
  const temporaryFolder = mkdtempSync(join(tmpdir(), 'postern-redis-'));
  const short = join(temporaryFolder, SOCKET_NAME);
  if (Buffer.byteLength(short) > LONGEST_SOCKET_PATH) {
    rmSync(temporaryFolder, { recursive: true, force: true });
    throw new Error(`the path of Redis's socket is too long: neither ${path} nor ${short} fits`);
  }
  return { path: short, temporaryFolder };
}

/** Do the last lines that Redis wrote say that its own files are damaged? */
export function blamesOwnFiles(output: readonly string[]): boolean {
  const text = output.join('\n');
  if (/no space left|permission denied|read-only file system/i.test(text)) return false;
  return /append.?only|\bAOF\b|manifest|\bRDB\b|loading the DB|DB from (disk|file)|bad file format|wrong signature/i.test(
    text,
  );
}

const OWN_FILES = ['appendonlydir', 'dump.rdb'];

/**
 * Moves the files that Redis saved to `damaged/`, in place of those of an earlier time, for later inspection. Nothing
 * is lost: Redis holds only ids, and the store can list them. Returns false when there was nothing to move.
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

/** Another running daemon uses this folder: two Redis servers on one append-only file would destroy it. */
class RedisInUseError extends Error {
  override readonly name = 'RedisInUseError';
}

const OWNER_FILE = 'owner.json';

/** Records that this process owns the Redis of this folder, for `stopOrphanRedis` of a later process. */
export function claimRedisFolder(folder: string): void {
  const self = readProcess(process.pid);
  const owner = { pid: process.pid, startedAt: self?.startedAt ?? 0 };
  writePrivateFile(join(folder, OWNER_FILE), JSON.stringify(owner));
}

/** Takes back what `claimRedisFolder` recorded. */
export function releaseRedisFolder(folder: string): void {
  rmSync(join(folder, OWNER_FILE), { force: true });
}

/**
 * Ends a Redis that an earlier, killed daemon left running in this folder. It is found by its working directory: a
 * pid file may be lost or stale, and a frozen process does not answer on its socket.
 * @throws RedisInUseError when the daemon of that Redis is still running, or the Redis cannot be ended
 */
export async function stopOrphanRedis(folder: string, stopTimeoutMs: number, log: Logger): Promise<void> {
  for (const orphan of findProcesses('redis-server', folder)) {
    const owner = readOwner(folder);
    if (owner !== null && owner.pid === orphan.parentPid && isAlive(owner)) {
      throw new RedisInUseError(
        `process ${owner.pid} is running with this data directory and its Redis (process ${orphan.pid})`,
      );
    }
    log.warn({ pid: orphan.pid }, 'stopping a Redis that an earlier run left behind');
    await endProcess(orphan, stopTimeoutMs);
  }
}

function readOwner(folder: string): Pick<ProcessFacts, 'pid' | 'startedAt'> | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8'));
    if (typeof owner !== 'object' || owner === null || !('pid' in owner) || !('startedAt' in owner)) {
      return null;
    }
    return { pid: Number(owner.pid), startedAt: Number(owner.startedAt) };
  } catch {
    return null;
  }
}

/** It is not our child, so there is no event to wait for: polls the process table until it is gone. */
async function endProcess(target: ProcessFacts, timeoutMs: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isAlive(target)) return;
    try {
      process.kill(target.pid, signal);
    } catch (error) {
      if (!isAlive(target)) return;
      throw error;
    }
    for (let waitedMs = 0; waitedMs < timeoutMs && isAlive(target); waitedMs += 20) await delay(20);
  }
  if (isAlive(target)) throw new RedisInUseError(`Redis process ${target.pid} cannot be ended`);
}
