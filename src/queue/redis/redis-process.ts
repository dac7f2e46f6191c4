import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { settledWithin, within } from '../../lib/async.js';

export interface RedisCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly socketPath: string;
}

export interface RedisExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote to stdout and stderr. */
  readonly output: readonly string[];
}

const KEPT_LINES = 20;
/** How long to read what is left in the pipes after the process has ended. */
const LAST_WORDS_MS = 500;
/** A frozen Redis is one that leaves so many questions in a row without an answer. */
const FROZEN_QUESTIONS = 5;

/** One run of `redis-server` as our child. */
export class RedisProcess {
  readonly #child: ChildProcess;
  readonly #socketPath: string;
  readonly #output: string[] = [];
  /** Resolves when the process has ended or could not be started; never rejects. */
  readonly exited: Promise<RedisExit>;
  #hasExited = false;

  constructor(command: RedisCommand) {
    this.#socketPath = command.socketPath;
    this.#child = spawn(command.program, command.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A session of its own: Ctrl-C in the terminal must reach only the daemon, which then stops Redis in order.
      detached: true,
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    });
    const closing = [this.#child.stdout, this.#child.stderr].map(stream => {
      if (stream === null) return Promise.resolve();
      const lines = createInterface({ input: stream });
      lines.on('line', line => this.#remember(line));
      return once(lines, 'close');
    });
    this.exited = new Promise(resolve => {
      const end = async (code: number | null, signal: NodeJS.Signals | null): Promise<void> => {
        this.#hasExited = true;
        await settledWithin(LAST_WORDS_MS, closing);
        resolve({ code, signal, output: [...this.#output] });
      };
      this.#child.once('exit', (code, signal) => void end(code, signal));
      this.#child.once('error', error => {
        this.#remember(error.message);
        if (this.#child.pid === undefined) void end(null, null);
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Resolves to true when Redis answers, to false when it ends before that or takes longer than `timeoutMs`. */
  async waitUntilReady(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    let isOver = false;
    void this.exited.then(() => {
      isOver = true;
    });
    for (let pauseMs = 5; !isOver && performance.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 100)) {
      if ((await askPing(this.#socketPath, 1_000))?.startsWith('+PONG')) return !this.#hasExited;
      await within(pauseMs, this.exited);
    }
    return false;
  }

  /**
   * Resolves when the process has ended, or at once when it has answered nothing for `frozenMs`: to be killed then.
   * Counted in questions without an answer, so that a pause of the whole machine counts once.
   */
  async whenFrozenOrExited(frozenMs: number): Promise<'frozen' | 'exited'> {
    const askMs = frozenMs / FROZEN_QUESTIONS;
    for (let silent = 0; silent < FROZEN_QUESTIONS; ) {
      const pause = within(askMs, this.exited);
      const answer = await askPing(this.#socketPath, askMs);
      await pause;
      if (this.#hasExited) return 'exited';
      silent = answer === null ? silent + 1 : 0;
    }
    return 'frozen';
  }

  kill(): void {
    if (!this.#hasExited) this.#child.kill('SIGKILL');
  }

  /** Sends SIGTERM (Redis then syncs its append-only file and ends), and SIGKILL after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#hasExited || this.#child.pid === undefined) return;
    this.#child.kill('SIGTERM');
    if ((await within(timeoutMs, this.exited)) === null) this.#child.kill('SIGKILL');
    await this.exited;
  }

  #remember(line: string): void {
    if (line.trim() === '') return;
    this.#output.push(line.slice(0, 300));
    if (this.#output.length > KEPT_LINES) this.#output.shift();
  }
}

/** Sends PING. Resolves to the answer, an error while Redis is loading its files; null when there is none in time. */
function askPing(socketPath: string, timeoutMs: number): Promise<string | null> {
  return new Promise(resolve => {
    const socket = connect(socketPath);
    const finish = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => finish(null));
    socket.once('error', () => finish(null));
    socket.once('close', () => finish(null));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', data => finish(data.toString('latin1')));
  });
}

/** A process as Linux describes it (proc(5)). */
export interface ProcessFacts {
  readonly pid: number;
  readonly name: string;
  readonly parentPid: number;
  /** In clock ticks since boot. Together with the pid it identifies a process, even if the pid is reused. */
  readonly startedAt: number;
  readonly isZombie: boolean;
}

/** Null when the process is gone or we may not read it. */
export function readProcess(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may contain parentheses itself.
    const nameEnd = stat.lastIndexOf(')');
    const fields = stat.slice(nameEnd + 2).split(' ');
    return {
      pid,
      name: stat.slice(stat.indexOf('(') + 1, nameEnd),
      isZombie: fields[0] === 'Z' || fields[0] === 'X',
      parentPid: Number(fields[1]),
      startedAt: Number(fields[19]),
    };
  } catch {
    return null;
  }
}

/** The processes with this name and this working directory (a path without symbolic links). */
export function findProcesses(name: string, folder: string): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const facts = readProcess(Number(entry));
    if (facts === null || facts.isZombie || facts.name !== name) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) === folder) found.push(facts);
    } catch {
      // It has ended meanwhile, or belongs to another user.
    }
  }
  return found;
}

/** Is exactly this process running? Another process with the same pid does not count. */
export function isAlive(process: Pick<ProcessFacts, 'pid' | 'startedAt'>): boolean {
  const now = readProcess(process.pid);
  return now !== null && !now.isZombie && now.startedAt === process.startedAt;
}

/** The path of a program, looked up in PATH as a shell does; null when it is not installed. */
export function findExecutable(name: string, path = process.env.PATH ?? ''): string | null {
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
