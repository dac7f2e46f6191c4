import type { Config } from '../config/load-config.js';
import { within } from '../lib/async.js';
import { createLogger, type LogLevel, type RootLogger } from '../ops/logging.js';
import { Daemon } from './daemon.js';
import { endWithin, exitNow } from './exit-guard.js';
import { memoryLimit, memoryNeeded } from './memory.js';
import { ServiceManager } from './service-manager.js';
import { packageVersion } from './version.js';

/**
 * How much longer than its deadline a stop may take before the process is killed: its main thread is stuck, or
 * something keeps it alive that should have ended.
 */
const STOP_KILL_MS = 2_000;
/** Time between a failure and the exit, for responses and log lines to be written. */
const FATAL_DELAY_MS = 250;

export interface ServeOptions {
  readonly config: Config;
  /** Reads the configuration again; null when it is not valid. */
  readonly reload: () => Config | null;
}

/**
 * Runs the daemon until a signal ends it. SIGTERM and SIGINT stop it in order; SIGHUP reads the certificates and the
 * log level again. An uncaught exception or unhandled rejection ends the process: a restart on an intact store is safer
 * than going on in an unknown state. However it ends, it is gone within seconds (`exit-guard.ts`).
 * @returns the exit code
 */
export async function serve(options: ServeOptions): Promise<number> {
  const log = createLogger(options.config.log.level);
  dieOnUnhandled(log);
  const manager = ServiceManager.of(process.env, log);
  // Listens for signals before the start: without a listener, a signal during it would kill the process.
  const stopSignal = nextStopSignal();
  let daemon: Daemon | undefined;
  process.on('SIGHUP', () => {
    if (daemon !== undefined) void reload(daemon, log, options);
  });
  try {
    daemon = await Daemon.start({
      config: options.config,
      version: packageVersion(),
      log,
      onProgress: manager?.progressed ?? (() => {}),
      onFatal: error => {
        log.fatal({ err: error }, 'the store cannot be written; the process ends and is to be started again');
        setTimeout(() => exitNow(1), FATAL_DELAY_MS);
      },
    });
    warnOfLittleMemory(options.config, daemon.delivers, log);
    manager?.ready();
  } catch (error) {
    log.fatal({ err: error }, 'postern cannot start');
    // Parts that were already started would keep the process alive.
    setTimeout(() => exitNow(1), FATAL_DELAY_MS);
    return 1;
  }
  const watchdog = daemon.watch(manager);
  const signal = await stopSignal;
  log.info({ signal }, 'stopping');
  manager?.stopping();
  watchdog?.stopping();
  endWithin(daemon.stopDeadlineMs + STOP_KILL_MS);
  const hasStopped = (await within(daemon.stopDeadlineMs, daemon.stop())) !== null;
  watchdog?.end();
  manager?.close();
  if (hasStopped) return 0;
  log.error({}, 'the orderly stop takes too long; what is left is recovered at the next start');
  return exitNow(1);
}

function warnOfLittleMemory(config: Config, delivers: boolean, log: RootLogger): void {
  const limit = memoryLimit();
  const needed = memoryNeeded(config, delivers);
  if (limit === null || limit.bytes >= needed) return;
  const inMib = (bytes: number): number => Math.ceil(bytes / 2 ** 20);
  log.warn(
    { needed_mib: inMib(needed), limit_mib: inMib(limit.bytes), set_by: limit.file },
    'the limit of memory is below what this configuration may take: under load the process may be slowed down or killed. Raise it, or lower what "postern config check" counts',
  );
}

function nextStopSignal(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}

async function reload(daemon: Daemon, log: RootLogger, options: ServeOptions): Promise<void> {
  try {
    const config = options.reload();
    if (config === null) {
      log.error({}, 'the configuration is not valid now (see "postern config check"): nothing was changed');
      return;
    }
    log.level = config.log.level satisfies LogLevel;
    await daemon.reloadCertificates();
    log.info({}, 'certificates and log level were read again');
  } catch (error) {
    log.error({ err: error }, 'certificates could not be read: the old ones stay');
  }
}

function dieOnUnhandled(log: RootLogger): void {
  const die = (kind: string) => (error: unknown) => {
    log.fatal({ err: error }, kind);
    exitNow(1);
  };
  process.on('uncaughtException', die('uncaught exception'));
  process.on('unhandledRejection', die('unhandled rejection'));
}
