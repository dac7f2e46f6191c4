import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

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
        await Promise.race([Promise.all(closing), delay(500)]);
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
      await Promise.race([delay(pauseMs), this.exited]);
    }
    return false;
  }

  /** SIGTERM (Redis then syncs its append-only file and ends), SIGKILL after the bound. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#hasExited || this.#child.pid === undefined) return;
    this.#child.kill('SIGTERM');
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    await this.exited;
    clearTimeout(killer);
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
