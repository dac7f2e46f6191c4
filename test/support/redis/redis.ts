import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Test } from 'tap';
import { type MessageId, newId } from '../../../src/domain/ids.js';
import type { PendingPage } from '../../../src/queue/reconciler.js';
import { ManagedRedis, type ManagedRedisOptions } from '../../../src/queue/redis/managed-redis.js';
import type { Logger } from '../../../src/usecases/ports.js';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly message: string;
  readonly fields: object;
}

/** A logger that remembers, and that can be waited for: a log line is often the only event there is. */
export interface RecordingLog extends Logger {
  readonly lines: readonly LogLine[];
  /** The next line from now on whose words match. */
  hear(words: RegExp): Promise<LogLine>;
  matching(words: RegExp): readonly LogLine[];
}

export function recordingLog(): RecordingLog {
  const lines: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  const at = (level: LogLine['level']) => (fields: object, message: string) => {
    const line = { level, message, fields };
    lines.push(line);
    for (const listener of [...listeners]) listener(line);
  };
  return {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    matching: words => lines.filter(line => words.test(line.message)),
    hear: words =>
      new Promise(resolve => {
        const listener = (line: LogLine): void => {
          if (!words.test(line.message)) return;
          listeners.delete(listener);
          resolve(line);
        };
        listeners.add(listener);
      }),
  };
}

/** A folder that is removed after the test. */
export function temporaryFolder(t: Test, prefix = 'postern-'): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface RunningRedis {
  readonly redis: ManagedRedis;
  readonly dataDir: string;
  readonly log: RecordingLog;
  /** A client of the test's own. */
  readonly client: Redis;
  /** Ends Redis as the kernel would, and waits until it runs again. */
  killAndAwaitRestart(): Promise<void>;
}

/** A Redis of the test's own, as the daemon runs it; ended after the test. */
export async function startRedis(t: Test, options: Partial<ManagedRedisOptions> = {}): Promise<RunningRedis> {
  const dataDir = options.dataDir ?? temporaryFolder(t);
  const log = recordingLog();
  const redis = new ManagedRedis({ dataDir, log, ...options });
  t.teardown(() => redis.stop());
  await redis.start();
  const client = new Redis({ path: redis.socketPath, retryStrategy: () => 20, disconnectTimeout: 100 });
  client.on('error', () => undefined);
  t.teardown(() => client.disconnect());
  const killAndAwaitRestart = async (): Promise<void> => {
    const back = log.hear(/runs again/);
    process.kill(redis.pid!, 'SIGKILL');
    await back;
  };
  return { redis, dataDir, log, client, killAndAwaitRestart };
}

/** An open connection, whose `close` event tells that the server at its other end is gone. */
export async function connectTo(socketPath: string): Promise<Socket> {
  const socket = connect(socketPath);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

export function newMessageIds(count: number): MessageId[] {
  return Array.from({ length: count }, () => newId<MessageId>(Date.now()));
}

/** Stands for the store's pending index: knows what must be done, and tells when all is. */
export class PendingList {
  readonly #ids = new Set<MessageId>();
  readonly #handled = new Map<MessageId, number>();
  #whenChanged: (() => void)[] = [];

  add(count: number): MessageId[] {
    const ids = newMessageIds(count);
    for (const id of ids) this.#ids.add(id);
    return ids;
  }

  /** The handler of a consumer. */
  readonly done = async (id: MessageId): Promise<void> => {
    this.#handled.set(id, this.timesHandled(id) + 1);
    this.#ids.delete(id);
    for (const wake of this.#whenChanged.splice(0)) wake();
  };

  /** Oldest first, as the reconciler asks. */
  readonly list = (limit: number, after?: MessageId): PendingPage<MessageId> => {
    const ids: MessageId[] = [];
    for (const id of this.#ids) {
      if (after === undefined || id > after) ids.push(id);
      if (ids.length === limit) return { ids, next: id };
    }
    return { ids, next: null };
  };

  get size(): number {
    return this.#ids.size;
  }

  timesHandled(id: MessageId): number {
    return this.#handled.get(id) ?? 0;
  }

  /** Resolves when no more than this many are left. */
  async untilAtMost(size: number): Promise<void> {
    while (this.#ids.size > size) {
      await new Promise<void>(resolve => {
        this.#whenChanged.push(resolve);
      });
    }
  }
}
