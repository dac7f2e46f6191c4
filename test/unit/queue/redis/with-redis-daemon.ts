import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { findExecutable } from '../../../../src/queue/redis/redis-process.js';
import { temporaryFolder } from '../../../support/redis/redis.js';

export interface RedisDaemon {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly socketPath: string;
}

/** Another process that runs Redis for this data directory. */
export async function spawnRedisDaemon(t: Test, dataDir: string, path: string): Promise<RedisDaemon> {
  const script = fileURLToPath(new URL('./redis-daemon.js', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, ...(JSON.parse(line.toString()) as { pid: number; socketPath: string }) };
}

/** A PATH with redis-server and without setpriv, so that the kernel does not end Redis with its parent. */
export function pathWithoutSetpriv(t: Test): string {
  const folder = temporaryFolder(t);
  symlinkSync(findExecutable('redis-server')!, join(folder, 'redis-server'));
  return folder;
}
