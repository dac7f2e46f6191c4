import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { backOffMs, reasonOf } from '../../lib/async.js';
import type { Logger } from '../../usecases/ports.js';
import type { RedisAddress } from '../connection.js';
import { RedisConfigurationError } from './external-redis.js';
import {
  blamesOwnFiles,
  claimRedisFolder,
  moveOwnFilesAside,
  placeSocket,
  prepareRedisFolder,
  releaseRedisFolder,
  type SocketPlace,
  stopOrphanRedis,
} from './redis-folder.js';
import { findExecutable, type RedisExit, RedisProcess } from './redis-process.js';

export interface ManagedRedisOptions {
  /** The data directory; Redis works in its `redis/`. */
  readonly dataDir: string;
  readonly log: Logger;
  /** Path of `redis.conf`; by default the one of the package. */
  readonly configFile?: string;
  /** How long one start may take, including loading the append-only file. */
  readonly startTimeoutMs?: number;
  /** How long an orderly stop may take before SIGKILL. */
  readonly stopTimeoutMs?: number;
  /** How long it may answer nothing before SIGKILL: it was stopped, or hangs. */
  readonly frozenTimeoutMs?: number;
  /** PATH for the look-up of programs. */
  readonly path?: string;
}

const RETRIES = { firstMs: 100, longestMs: 10_000 };
/** The back-off starts anew when a Redis that ran for this long ends. */
const STABLE_MS = 10_000;

/**
 * Redis as a part of the appliance: started with the daemon, restarted when it ends or freezes, and ended with the
 * daemon even when that is killed. `start` fails only for a missing program, a wrong configuration or a second daemon. Other
 * failures are logged and retried with back-off, because mail is accepted and read without Redis.
 */
export class ManagedRedis {
  readonly #options: Required<ManagedRedisOptions>;
  readonly #folder: string;
  readonly #socket: SocketPlace;
  #process: RedisProcess | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isStarted = false;
  /** Has this process claimed the folder? Until then nothing in it is touched. */
  #hasClaimed = false;
  #isStopping = false;
  #pending: Promise<unknown> = Promise.resolve();

  constructor(options: ManagedRedisOptions) {
    this.#options = {
      configFile: packageFile('config/redis.conf'),
      startTimeoutMs: 60_000,
      stopTimeoutMs: 5_000,
      frozenTimeoutMs: 10_000,
      path: process.env.PATH ?? '',
      ...options,
    };
    this.#folder = prepareRedisFolder(options.dataDir);
    this.#socket = placeSocket(this.#folder);
  }

  get socketPath(): string {
    return this.#socket.path;
  }

  get address(): RedisAddress {
    return { mode: 'managed', socketPath: this.#socket.path };
  }

  /** The process id of the Redis that is running now, for tests. */
  get pid(): number | undefined {
    return this.#process?.hasExited === false ? this.#process.pid : undefined;
  }

  /**
   * Resolves with `ready` when Redis answers, or with `retrying` when the start failed and is being retried.
   * @throws RedisConfigurationError, RedisInUseError
   */
  async start(): Promise<'ready' | 'retrying'> {
    if (this.#isStarted) throw new Error('already started');
    this.#isStarted = true;
    this.#requireProgram();
    await stopOrphanRedis(this.#folder, this.#options.stopTimeoutMs, this.#options.log);
    claimRedisFolder(this.#folder);
    this.#hasClaimed = true;
    const launch = this.#launch(true);
    this.#pending = launch.catch(() => undefined);
    return launch;
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    clearTimeout(this.#retryTimer);
    await this.#process?.stop(this.#options.stopTimeoutMs);
    await this.#pending;
    // A launch that had just tried one process may have started another.
    await this.#process?.stop(this.#options.stopTimeoutMs);
    if (this.#hasClaimed) {
      releaseRedisFolder(this.#folder);
      rmSync(this.#socket.path, { force: true });
    }
    if (this.#socket.temporaryFolder !== null) {
      rmSync(this.#socket.temporaryFolder, { recursive: true, force: true });
    }
  }

  /** Starts Redis. When it cannot read its own files, they are moved aside and it is started once more, empty. */
  async #launch(isFirst: boolean): Promise<'ready' | 'retrying'> {
    let exit = await this.#launchOnce();
    if (
      exit !== 'ready' &&
      !this.#isStopping &&
      blamesOwnFiles(exit.output) &&
      moveOwnFilesAside(this.#folder)
    ) {
      this.#options.log.warn(
        { output: exit.output.slice(-5) },
        'Redis cannot read its files; they were moved to redis/damaged and it starts empty',
      );
      exit = await this.#launchOnce();
    }
    if (exit === 'ready') return 'ready';
    if (this.#isStopping) return 'retrying';
    const configError = exit.output.some(line =>
      /FATAL CONFIG FILE ERROR|can't open config file/i.test(line),
    );
    if (isFirst && configError) {
      throw new RedisConfigurationError(`Redis does not take its configuration: ${exit.output.join(' | ')}`);
    }
    this.#retryLater(exit, 'Redis could not be started');
    return 'retrying';
  }

  async #launchOnce(): Promise<'ready' | RedisExit> {
    // With the socket of an earlier run it would be unclear which Redis answers.
    rmSync(this.#socket.path, { force: true });
    const { program, args } = await this.#command();
    const redis = new RedisProcess({ program, args, socketPath: this.#socket.path });
    this.#process = redis;
    const startedAtMs = performance.now();
    if (this.#isStopping) {
      await redis.stop(this.#options.stopTimeoutMs);
      return redis.exited;
    }
    if (!(await redis.waitUntilReady(this.#options.startTimeoutMs))) {
      await redis.stop(this.#options.stopTimeoutMs);
      return redis.exited;
    }
    void redis.exited.then(exit => {
      if (this.#isStopping) return;
      if (performance.now() - startedAtMs > STABLE_MS) this.#failures = 0;
      this.#retryLater(exit, 'Redis ended unexpectedly');
    });
    void this.#killWhenFrozen(redis);
    return 'ready';
  }

  /** Its end is then met like any other: it is started again, and the queues are filled from the store. */
  async #killWhenFrozen(redis: RedisProcess): Promise<void> {
    const { frozenTimeoutMs, log } = this.#options;
    if ((await redis.whenFrozenOrExited(frozenTimeoutMs)) === 'exited' || this.#isStopping) return;
    log.error({ pid: redis.pid, silentMs: frozenTimeoutMs }, 'Redis does not answer any more; it is killed');
    redis.kill();
  }

  #retryLater(exit: RedisExit, what: string): void {
    const delayMs = backOffMs(this.#failures, RETRIES);
    this.#failures++;
    const { code, signal, output } = exit;
    this.#options.log.warn({ code, signal, output: output.slice(-5), delayMs }, `${what}; starting it again`);
    this.#retryTimer = setTimeout(() => {
      this.#pending = this.#relaunch();
    }, delayMs);
  }

  async #relaunch(): Promise<void> {
    try {
      if ((await this.#launch(false)) === 'ready') {
        this.#options.log.info({ pid: this.pid }, 'Redis runs again');
      }
    } catch (error) {
      this.#retryLater({ code: null, signal: null, output: [reasonOf(error)] }, 'Redis could not be started');
    }
  }

  #requireProgram(): string {
    const program = findExecutable('redis-server', this.#options.path);
    if (program === null) {
      throw new RedisConfigurationError(
        'redis-server is not installed: run "apt-get install redis-server", ' +
          'or set redis.mode = "external" and redis.url to use a Redis of your own',
      );
    }
    if (!existsSync(this.#options.configFile)) {
      throw new RedisConfigurationError(`Redis's configuration ${this.#options.configFile} is missing`);
    }
    return program;
  }

  async #command(): Promise<{ program: string; args: string[] }> {
    const redis = this.#requireProgram();
    const args = [
      this.#options.configFile,
      ...['--daemonize', 'no'],
      ...['--port', '0'],
      ...['--unixsocket', this.#socket.path],
      ...['--unixsocketperm', '700'],
      ...['--dir', this.#folder],
      ...['--pidfile', join(this.#folder, 'redis.pid')],
    ];
    const setpriv = await findSetpriv(this.#options.path);
    if (setpriv === null) return { program: redis, args };
    // PR_SET_PDEATHSIG (prctl(2)): the kernel ends Redis when the daemon dies, however it dies.
    return { program: setpriv, args: ['--pdeathsig', 'SIGTERM', '--', redis, ...args] };
  }
}

/** Path of util-linux's setpriv; null where it is absent or does not know `--pdeathsig`. */
async function findSetpriv(path: string): Promise<string | null> {
  const setpriv = findExecutable('setpriv', path);
  if (setpriv === null) return null;
  try {
    await promisify(execFile)(setpriv, ['--pdeathsig', 'SIGTERM', '--', 'true'], { timeout: 2_000 });
    return setpriv;
  } catch {
    return null;
  }
}

/** The path of a file of the package. It is relative to `dist/src/queue/redis/managed-redis.js`. */
function packageFile(name: string): string {
  return join(dirname(fileURLToPath(import.meta.url)), '../../../..', name);
}
