import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { servedContract } from '../contract/served-contract.js';
import { ApiClient } from './api-client.js';

/** The package that is tested: this module runs as `dist/test/support/box/postern-box.js`. */
export const packageRoot = join(import.meta.dirname, '../../../..');

const launcher = join(packageRoot, 'bin/postern');

export const DOMAIN = 'example.org';

/** A line of the daemon's log. */
export interface DaemonLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BoxOptions {
  /** Configuration besides the box's own, as the daemon reads it: `POSTERN_SECTION_KEY`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Data folder; by default a new one, removed after the test. */
  readonly dataDir?: string;
  /** Arguments of Node, before the script: a module to load first, limits of memory. */
  readonly nodeArguments?: readonly string[];
}

/**
 * The real appliance in a box: a data folder of its own, free ports of the loopback interface, and the
 * daemon as a child process, exactly as `bin/postern serve` runs it. Whatever the test does, the process
 * is ended and the folder removed after it.
 *
 *     const box = await startBox(t);
 *     const agent = await box.agent('agent');            // test/support/box/agents.ts
 *     const client = await SmtpClient.ready(box.smtpPort);
 *     await box.stop();                                   // SIGTERM; resolves to the exit
 *     await box.start();                                  // the same store, other ports
 */
export class PosternBox {
  readonly folder: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #nodeArguments: readonly string[];
  readonly #configFile: string;
  readonly #events = new EventEmitter();
  readonly #lines: DaemonLine[] = [];
  readonly #strayOutput: string[] = [];
  #daemon: { readonly child: ChildProcess; readonly exited: Promise<Exit>; hasExited: boolean } | null = null;
  #ports = { smtp: 0, http: 0 };
  #isReady = false;

  private constructor(folder: string, options: BoxOptions) {
    this.folder = folder;
    this.dataDir = options.dataDir ?? join(folder, 'data');
    this.#nodeArguments = options.nodeArguments ?? [];
    // Not the machine's own configuration, whatever it is.
    this.#configFile = join(folder, 'postern.toml');
    writeFileSync(this.#configFile, '');
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'));
    this.env = {
      ...Object.fromEntries(inherited),
      POSTERN_MAIL_DOMAINS: DOMAIN,
      POSTERN_MAIL_HOSTNAME: `mx.${DOMAIN}`,
      POSTERN_STORE_PATH: this.dataDir,
      POSTERN_STORE_MAP_SIZE_GIB: '4',
      POSTERN_SMTP_HOST: '127.0.0.1',
      POSTERN_SMTP_PORT: '0',
      POSTERN_HTTP_HOST: '127.0.0.1',
      POSTERN_HTTP_PORT: '0',
      POSTERN_LIMITS_INBOXES: '100',
      ...options.env,
    };
    this.#events.setMaxListeners(0);
  }

  /** A box whose daemon is not started yet. */
  static create(t: Test, options: BoxOptions = {}): PosternBox {
    const folder = mkdtempSync(join(tmpdir(), 'box-'));
    const box = new PosternBox(folder, options);
    t.teardown(async () => {
      await box.kill();
      // Redis notices the end of its daemon by a signal; its last file may appear while the folder goes.
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    });
    return box;
  }

  get smtpPort(): number {
    return this.#ports.smtp;
  }

  get httpPort(): number {
    return this.#ports.http;
  }

  get pid(): number {
    const pid = this.#daemon?.child.pid;
    if (pid === undefined || this.#daemon?.hasExited === true) throw new Error('the daemon does not run');
    return pid;
  }

  /** Every line of the log so far, of all runs. */
  get lines(): readonly DaemonLine[] {
    return this.#lines;
  }

  /** The largest map that the store may grow to: another process must open it with the same. */
  get mapSizeBytes(): number {
    return Number(this.env.POSTERN_STORE_MAP_SIZE_GIB) * 2 ** 30;
  }

  /** Starts the daemon; resolves when it says that it is ready, rejects when it ends before. */
  async start(): Promise<void> {
    const daemon = this.spawn();
    const outcome = await Promise.race([this.hear(/^postern is ready$/), daemon.exited]);
    if ('msg' in outcome) return;
    throw new Error(
      `the daemon ended (${outcome.signal ?? outcome.code}) before it was ready:\n${this.tail()}`,
    );
  }

  /** Resolves at once while the daemon is ready, else when it is the next time. */
  async untilReady(): Promise<void> {
    if (!this.#isReady) await this.hear(/^postern is ready$/);
  }

  /** Starts the daemon without waiting for anything. */
  spawn(): { readonly exited: Promise<Exit> } {
    if (this.#daemon?.hasExited === false) throw new Error('the daemon runs already');
    const child = spawn(
      process.execPath,
      [...this.#nodeArguments, launcher, '--config', this.#configFile, 'serve'],
      { cwd: this.folder, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    createInterface({ input: child.stdout }).on('line', line => this.#take(line));
    createInterface({ input: child.stderr }).on('line', line => this.#strayOutput.push(line));
    const exited = new Promise<Exit>((resolve, reject) => {
      child.once('error', reject);
      // `close`, not `exit`: by then every line of the log has been taken.
      child.once('close', (code, signal) => {
        daemon.hasExited = true;
        resolve({ code, signal });
      });
    });
    child.once('exit', () => {
      this.#isReady = false;
    });
    const daemon = { child, exited, hasExited: false };
    this.#daemon = daemon;
    return daemon;
  }

  /** Ends the daemon in order (SIGTERM). */
  async stop(): Promise<Exit> {
    return this.signal('SIGTERM');
  }

  /** Ends the daemon as a power cut would (SIGKILL). Does nothing when none runs. */
  async kill(): Promise<void> {
    if (this.#daemon !== null) await this.signal('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Sends a signal and waits for the end. */
  async signal(signal: NodeJS.Signals): Promise<Exit> {
    if (this.#daemon === null) throw new Error('the daemon was never started');
    this.#isReady = false;
    if (!this.#daemon.hasExited) this.#daemon.child.kill(signal);
    return this.#daemon.exited;
  }

  /** How the daemon that runs now ends, whoever ends it. */
  async exited(): Promise<Exit> {
    if (this.#daemon === null) throw new Error('the daemon was never started');
    return this.#daemon.exited;
  }

  /** The next line from now on whose message matches. */
  hear(words: RegExp): Promise<DaemonLine> {
    return new Promise(resolve => {
      const listener = (line: DaemonLine): void => {
        if (!words.test(line.msg)) return;
        this.#events.off('line', listener);
        resolve(line);
      };
      this.#events.on('line', listener);
    });
  }

  /** Lines so far whose message matches. */
  heard(words: RegExp): readonly DaemonLine[] {
    return this.#lines.filter(line => words.test(line.msg));
  }

  /** The end of what the daemon wrote, for the message of a failure. */
  tail(): string {
    return [
      ...this.#lines.slice(-15).map(line => JSON.stringify(line)),
      ...this.#strayOutput.slice(-15),
    ].join('\n');
  }

  /** Runs the command line on the store of this box, beside the daemon if it runs. */
  cli(...args: readonly string[]): Promise<CliRun> {
    return new Promise(resolve => {
      const options = { cwd: this.folder, env: this.env, maxBuffer: 64 * 1024 * 1024 };
      const script = [launcher, '--config', this.#configFile, ...args];
      execFile(process.execPath, script, options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      });
    });
  }

  /** Runs a command with `--json` and gives its document. */
  async cliJson<Document>(...args: readonly string[]): Promise<Document> {
    const run = await this.cli('--json', ...args);
    if (run.code !== 0) throw new Error(`postern ${args.join(' ')} ended with ${run.code}: ${run.stderr}`);
    return JSON.parse(run.stdout) as Document;
  }

  /**
   * The API, with this credential or without one. It follows the daemon through restarts, and every answer is
   * held against the document that the daemon publishes.
   */
  api(credential: string | null = null): ApiClient {
    const port = () => this.#ports.http;
    return new ApiClient(port, credential, () => servedContract(port()));
  }

  #take(text: string): void {
    const line = parseLine(text);
    if (line === null) {
      this.#strayOutput.push(text);
      return;
    }
    this.#lines.push(line);
    if (line.msg === 'postern is ready') {
      this.#ports = { smtp: Number(line.smtp_port), http: Number(line.http_port) };
      this.#isReady = true;
    }
    this.#events.emit('line', line);
  }
}

/** A box with a daemon that is ready. */
export async function startBox(t: Test, options: BoxOptions = {}): Promise<PosternBox> {
  const box = PosternBox.create(t, options);
  await box.start();
  return box;
}

function parseLine(text: string): DaemonLine | null {
  try {
    const line = JSON.parse(text) as DaemonLine;
    return typeof line.msg === 'string' ? line : null;
  } catch {
    return null;
  }
}
