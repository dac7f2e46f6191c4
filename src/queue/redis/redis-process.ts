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
  /** The last lines it wrote. */
  readonly output: readonly string[];
}

const KEPT_LINES = 20;
/** After the process has ended, for what it wrote to come out of the pipes. */
const LAST_WORDS_MS = 500;

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
      // A session of its own: Ctrl-C in the daemon's terminal is the daemon's to handle, in order.
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

  /** Resolves to true once it answers, to false when it ends before or takes too long. */
  async waitUntilReady(timeoutMs: number): Promise<boolean> {
    const deadline = Date.now() + timeoutMs;
    let isOver = false;
    void this.exited.then(() => {
      isOver = true;
    });
    for (let pauseMs = 5; !isOver && Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 100)) {
      if (await answersPing(this.#socketPath)) return !this.#hasExited;
      await within(pauseMs, this.exited);
    }
    return false;
  }

  /** SIGTERM (Redis then syncs its append-only file and ends), SIGKILL after the bound. */
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

/** Asks for a sign of life in plain protocol; false while it loads or is not there. */
function answersPing(socketPath: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(socketPath);
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', data => finish(data.toString('latin1').startsWith('+PONG')));
  });
}

/** What Linux tells of a process (proc(5)); null when it is gone or not ours to see. */
export interface ProcessFacts {
  readonly pid: number;
  readonly name: string;
  readonly parentPid: number;
  /** Clock ticks since boot: with the pid, this names one process for good. */
  readonly startedAt: number;
  readonly isZombie: boolean;
}

export function readProcess(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in parentheses and may contain anything, parentheses too.
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

/** The processes with this name that work in this folder (a real path). */
export function findProcesses(name: string, folder: string): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const facts = readProcess(Number(entry));
    if (facts === null || facts.isZombie || facts.name !== name) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) === folder) found.push(facts);
    } catch {
      // Ended meanwhile, or another user's.
    }
  }
  return found;
}

/** True while exactly this process lives: a pid that was given to another one does not count. */
export function isAlive(process: Pick<ProcessFacts, 'pid' | 'startedAt'>): boolean {
  const now = readProcess(process.pid);
  return now !== null && !now.isZombie && now.startedAt === process.startedAt;
}

/** Where a program lies, looked up as a shell would; null when it is not installed. */
export function findExecutable(name: string, path = process.env.PATH ?? ''): string | null {
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not here; perhaps in the next folder.
    }
  }
  return null;
}
