import { Worker } from 'node:worker_threads';
import type { ChecksSetup, FromThread, ThreadSetup, ToThread } from './parse-protocol.js';

export interface PoolThreadOptions {
  readonly script: URL;
  readonly memoryMib: number;
  readonly checks: ChecksSetup | null;
  readonly onReady: (thread: PoolThread) => void;
  readonly onMessage: (thread: PoolThread, message: FromThread) => void;
  /** The thread has ended by itself, for whatever reason. Called at most once, and not after `end`. */
  readonly onDied: (thread: PoolThread, death: ThreadDeath) => void;
}

export interface ThreadDeath {
  readonly reason: 'memory' | 'worker_died';
  readonly detail: string;
}

/** With V8's default, short-lived buffers fill the young generation, and two threads are no faster than one. */
const YOUNG_GENERATION_MIB = 64;
/** V8 may leave 64 MiB and more of dead buffers uncollected; these must not count against a message. */
const UNCOLLECTED_BYTES = 128 * 1024 * 1024;

/** What a thread may take at most, when its heap has this size. */
export function threadBytes(memoryMib: number): number {
  const heapBytes = (YOUNG_GENERATION_MIB + memoryMib) * 1024 * 1024;
  return heapBytes + memoryMib * 1024 * 1024 + UNCOLLECTED_BYTES;
}

/**
 * The heap divided by this limits the text and HTML bodies that are kept. While a body is assembled it takes four times
 * its size (two bytes a character, as pieces and as a whole). That must fit, because V8 ends the whole process, not
 * only the thread, when one large allocation fails.
 */
const TEXT_SHARE = 8;

/** A worker thread of the pool, from its start to its end. */
export class PoolThread {
  readonly #worker: Worker;
  readonly #options: PoolThreadOptions;
  #isReady = false;
  #isGone = false;

  constructor(options: PoolThreadOptions) {
    this.#options = options;
    const memoryBytes = options.memoryMib * 1024 * 1024;
    const setup: ThreadSetup = {
      maxExternalBytes: memoryBytes + UNCOLLECTED_BYTES,
      maxTextBytes: memoryBytes / TEXT_SHARE,
      checks: options.checks,
    };
    this.#worker = new Worker(options.script, {
      workerData: setup,
      // The parser needs no environment variables, and some may be secret.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
        maxOldGenerationSizeMb: options.memoryMib,
      },
    });
    // The output of libraries is discarded: it must neither reach our log nor fill a buffer.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    this.#worker.on('messageerror', () => this.#die({ reason: 'worker_died', detail: 'unreadable message' }));
    this.#worker.on('error', error => this.#die(deathBy(error)));
    this.#worker.on('exit', code => this.#die({ reason: 'worker_died', detail: `exit code ${code}` }));
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  post(message: ToThread, transfer: ArrayBuffer[]): void {
    if (!this.#isGone) this.#worker.postMessage(message, transfer);
  }

  /** Ends the thread, whatever it is doing. Resolves when it has ended. */
  async end(): Promise<void> {
    this.#isGone = true;
    await this.#worker.terminate();
  }

  #hear(message: FromThread): void {
    if (this.#isGone) return;
    if (message.kind === 'ready') {
      this.#isReady = true;
      this.#options.onReady(this);
    } else {
      this.#options.onMessage(this, message);
    }
  }

  #die(death: ThreadDeath): void {
    if (this.#isGone) return;
    this.#isGone = true;
    void this.#worker.terminate();
    this.#options.onDied(this, death);
  }
}

function deathBy(error: unknown): ThreadDeath {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return { reason: 'memory', detail: 'heap over the memory limit' };
  // The message of an error may quote the mail; its name does not.
  const name = error instanceof Error ? error.name : typeof error;
  return { reason: 'worker_died', detail: `uncaught ${name}${code === '' ? '' : ` ${code}`}` };
}
