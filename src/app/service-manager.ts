import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { reasonOf } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';

/**
 * Tells systemd how the service is (sd_notify(3)). Node has no datagram sockets of the file system, so one small shell is
 * kept that hands each line of its input to `systemd-notify`; it is started before this process has any memory to copy,
 * and ends with its pipe, however this process ends. The unit needs `NotifyAccess=all`.
 */
const HELPER = `command -v systemd-notify >/dev/null || exit 127
while IFS= read -r line; do systemd-notify "$line" </dev/null >/dev/null 2>&1; done`;
const NO_PROGRAM = 127;

/** By so much the time for what is under way is extended when it has come further, and how often that is said. */
const EXTEND_S = 60;
const EXTEND_EVERY_MS = 5_000;
/** A helper that has ended is started again after this time. */
const RESTART_MS = 5_000;
/** Lines are dropped while so much waits to be read by the helper. */
const MAX_WAITING_BYTES = 4_096;

export class ServiceManager {
  /** How often it wants to hear that the service is alive, in milliseconds; null when it does not ask. */
  readonly watchdogMs: number | null;
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: Logger;
  #helper: ChildProcess | null = null;
  #startedAt = Number.NEGATIVE_INFINITY;
  #extendedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  private constructor(env: NodeJS.ProcessEnv, watchdogMs: number | null, log: Logger) {
    this.#env = env;
    this.watchdogMs = watchdogMs;
    this.#log = log;
  }

  /**
   * Null where no service manager listens: then nothing is started. What it has set is taken out of `env`, so that other
   * programs that are started do not speak for this one.
   */
  static of(env: NodeJS.ProcessEnv, log: Logger): ServiceManager | null {
    const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = env;
    delete env.NOTIFY_SOCKET;
    delete env.WATCHDOG_USEC;
    delete env.WATCHDOG_PID;
    if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return null;
    const isForUs = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid);
    const usec = Number(WATCHDOG_USEC);
    const watchdogMs = isForUs && Number.isFinite(usec) && usec > 0 ? usec / 1000 : null;
    const manager = new ServiceManager({ PATH: env.PATH, NOTIFY_SOCKET }, watchdogMs, log);
    manager.#startHelper();
    return manager;
  }

  ready(): void {
    this.#say('READY=1');
  }

  stopping(): void {
    this.#say('STOPPING=1');
  }

  alive(): void {
    this.#say('WATCHDOG=1');
  }

  /**
   * What takes long at the start (a migration, recovery) has come further: it may take another minute from now. Call
   * it as often as you like. Without it the unit's own time-outs hold.
   */
  readonly progressed = (): void => {
    const now = performance.now();
    if (now - this.#extendedAt < EXTEND_EVERY_MS) return;
    this.#extendedAt = now;
    this.#say(`EXTEND_TIMEOUT_USEC=${EXTEND_S * 1_000_000}`);
  };

  /** Nothing more is said; the helper ends when it has handed over what it has. */
  close(): void {
    this.#isClosed = true;
    this.#helper?.stdin?.end();
  }

  #say(line: string): void {
    if (this.#isClosed) return;
    if (this.#helper === null && performance.now() - this.#startedAt > RESTART_MS) this.#startHelper();
    const stdin = this.#helper?.stdin;
    if (stdin?.writable && stdin.writableLength < MAX_WAITING_BYTES) stdin.write(`${line}\n`);
  }

  #startHelper(): void {
    this.#startedAt = performance.now();
    try {
      const helper = spawn('/bin/sh', ['-c', HELPER], {
        env: this.#env,
        stdio: ['pipe', 'ignore', 'ignore'],
        // A session of its own: a signal to the group of the daemon must not reach it.
        detached: true,
      });
      this.#helper = helper;
      helper.on('error', error => this.#lose(helper, reasonOf(error)));
      helper.on('exit', (code, signal) => {
        this.#lose(
          helper,
          code === NO_PROGRAM ? 'there is no systemd-notify' : `it ended (${signal ?? code})`,
        );
      });
      helper.stdin?.on('error', () => {});
      helper.unref();
      (helper.stdin as Socket | null)?.unref();
    } catch (error) {
      this.#log.warn({ reason: reasonOf(error) }, LOST);
    }
  }

  #lose(helper: ChildProcess, reason: string): void {
    if (this.#helper !== helper) return;
    this.#helper = null;
    if (!this.#isClosed) this.#log.warn({ reason }, LOST);
  }
}

const LOST = 'the helper that speaks to the service manager was lost; another is started when there is news';
