import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../usecases/ports.js';
import { findProcesses, isAlive, type ProcessFacts, readProcess } from './process-facts.js';

/** Another daemon that lives uses this folder: two Redis servers on one append-only file would ruin it. */
export class RedisInUseError extends Error {
  override readonly name = 'RedisInUseError';
}

const OWNER_FILE = 'owner.json';

/** Notes that this process owns the Redis of this folder. */
export function claimRedisFolder(folder: string): void {
  const self = readProcess(process.pid);
  const owner = { pid: process.pid, startedAt: self?.startedAt ?? 0 };
  writeFileSync(join(folder, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 });
}

export function releaseRedisFolder(folder: string): void {
  rmSync(join(folder, OWNER_FILE), { force: true });
}

/**
 * Ends a Redis that an earlier, killed daemon left behind in this folder. It is found by the folder it works
 * in, not by a pid file or an answer on the socket: those can be lost, stale, or frozen with the process.
 * A Redis whose daemon lives is not touched: that is an error of whoever starts a second one.
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
    if (typeof owner !== 'object' || owner === null || !('pid' in owner) || !('startedAt' in owner))
      return null;
    return { pid: Number(owner.pid), startedAt: Number(owner.startedAt) };
  } catch {
    return null;
  }
}

/** Not our child, so there is no event to wait for: the process table is looked at until it is gone. */
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
