import { Worker } from 'node:worker_threads';
import { backOffMs } from '../lib/async.js';
import type { AttachmentSink } from '../mail/read/limits.js';
import type { Logger, MessageParser, ParseOutcome } from '../usecases/ports.js';
import type { FromThread, ThreadSetup, ToThread } from './parse-protocol.js';
import { ParseRun } from './parse-run.js';

export interface ParsePoolOptions {
  /** Maximum number of threads. One is started at once, the others when there is work for them. */
  readonly workers: number;
  /** How long a thread may take for one message. */
  readonly timeoutMs: number;
  /** Heap that one message may use. The limits on its buffers and its text are derived from it. */
  readonly memoryMib: number;
  readonly log: Logger;
  /** The script of a thread. */
  readonly script?: URL;
}

/** A message that waits for a thread. */
interface Waiting {
  readonly source: AsyncIterable<Uint8Array>;
  readonly sink: AttachmentSink;
  readonly resolve: (outcome: Promise<ParseOutcome> | ParseOutcome) => void;
}

const RETRIES = { firstMs: 100, longestMs: 10_000 };

/**
 * Parses messages on worker threads. A message can harm only its own thread: one that takes too much time or memory is
 * ended and replaced, and the others go on. Threads have no access to the store; raw bytes and attachments are passed
 * through here, with limits on how much is in flight.
 */
export class ParsePool implements MessageParser {
  readonly #options: Required<ParsePoolOptions>;
  readonly #waiting: Waiting[] = [];
  /** Every running thread with the message that it works on, or null. */
  readonly #threads = new Map<PoolThread, ParseRun | null>();
  #lastJob = 0;
  #failedStarts = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #firstStart: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #isStopped = false;

  constructor(options: ParsePoolOptions) {
    this.#options = { script: new URL('./parse-thread.js', import.meta.url), ...options };
  }

  /** Starts the first thread. Rejects when threads cannot start at all. */
  async start(): Promise<void> {
    if (this.#isStopped || this.#threads.size > 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#firstStart = { resolve, reject };
      this.#addThread();
    });
  }

  /** Parses a message as soon as a thread is free. Rejects only when `source` or `sink` fails. */
  parse(source: AsyncIterable<Uint8Array>, sink: AttachmentSink): Promise<ParseOutcome> {
    if (this.#isStopped) return Promise.resolve({ status: 'stopped' });
    return new Promise(resolve => {
      this.#waiting.push({ source, sink, resolve });
      this.#dispatch();
    });
  }

  /** How many messages wait, how many are being parsed, and how many threads there are. */
  get load(): { readonly waiting: number; readonly active: number; readonly threads: number } {
    let active = 0;
    for (const run of this.#threads.values()) if (run !== null) active++;
    return { waiting: this.#waiting.length, active, threads: this.#threads.size };
  }

  /** Ends all threads. Every unfinished parse resolves with `stopped`. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retryTimer);
    for (const { resolve } of this.#waiting.splice(0)) resolve({ status: 'stopped' });
    const threads = [...this.#threads];
    this.#threads.clear();
    this.#firstStart?.reject(new Error('the parse pool was stopped'));
    for (const [, run] of threads) run?.end({ status: 'stopped' });
    await Promise.all(
      threads.flatMap(([thread, run]) => [thread.end(), run?.outcome.catch(() => undefined)]),
    );
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && !this.#isStopped) {
      const thread = this.#findIdle();
      if (thread === undefined) break;
      const next = this.#waiting.shift();
      if (next !== undefined) this.#run(thread, next);
    }
    const starting = [...this.#threads.keys()].filter(thread => !thread.isReady).length;
    if (this.#waiting.length > starting && this.#threads.size < this.#options.workers) this.#addThread();
  }

  #findIdle(): PoolThread | undefined {
    for (const [thread, run] of this.#threads) if (run === null && thread.isReady) return thread;
    return undefined;
  }

  #run(thread: PoolThread, { source, sink, resolve }: Waiting): void {
    const { timeoutMs } = this.#options;
    const run = new ParseRun({
      job: ++this.#lastJob,
      source,
      sink,
      timeoutMs,
      post: (message, transfer) => thread.post(message, transfer),
      onTimeUp: () => {
        this.#replace(thread, 'time is up');
        run.end({ status: 'gave_up', reason: 'timeout', detail: `not parsed in ${timeoutMs} ms` });
      },
    });
    this.#threads.set(thread, run);
    resolve(run.outcome);
    const free = (): void => {
      if (this.#threads.get(thread) === run) this.#threads.set(thread, null);
      this.#dispatch();
    };
    run.outcome.then(outcome => {
      if (outcome.status === 'gave_up' && outcome.reason === 'memory') this.#replace(thread, 'out of memory');
      free();
    }, free);
  }

  #addThread(): void {
    if (this.#isStopped || this.#retryTimer !== undefined) return;
    const thread = new PoolThread({
      script: this.#options.script,
      memoryMib: this.#options.memoryMib,
      onReady: () => {
        this.#failedStarts = 0;
        this.#firstStart?.resolve();
        this.#firstStart = undefined;
        this.#dispatch();
      },
      onMessage: (from, message) => this.#hear(from, message),
      onDied: (dead, death) => this.#bury(dead, death),
    });
    this.#threads.set(thread, null);
  }

  #hear(thread: PoolThread, message: FromThread): void {
    this.#threads.get(thread)?.hear(message);
  }

  /** Ends a running thread. A new one is started when a message needs it. */
  #replace(thread: PoolThread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    this.#options.log.warn({ reason }, 'ending a parser thread');
    void thread.end();
  }

  #bury(thread: PoolThread, death: ThreadDeath): void {
    const run = this.#threads.get(thread);
    this.#threads.delete(thread);
    if (!thread.isReady) {
      this.#failStart(death);
      return;
    }
    this.#options.log.warn({ ...death }, 'a parser thread died');
    run?.end({ status: 'gave_up', reason: death.reason, detail: death.detail });
    this.#dispatch();
  }

  /** A thread that dies before it is ready has not touched a message: messages wait for the next try, with back-off. */
  #failStart(death: ThreadDeath): void {
    const first = this.#firstStart;
    this.#firstStart = undefined;
    if (first !== undefined) {
      first.reject(new Error(`parser threads cannot start: ${death.detail}`));
      return;
    }
    const delayMs = backOffMs(this.#failedStarts, RETRIES);
    this.#failedStarts++;
    this.#options.log.error({ ...death, delayMs }, 'a parser thread cannot start; trying again');
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#dispatch();
    }, delayMs);
  }
}

interface PoolThreadOptions {
  readonly script: URL;
  readonly memoryMib: number;
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
/**
 * The heap divided by this limits the text and HTML bodies that are kept. While a body is assembled it takes four times
 * its size (two bytes a character, as pieces and as a whole). That must fit, because V8 ends the whole process, not
 * only the thread, when one large allocation fails.
 */
const TEXT_SHARE = 8;

/** What a thread may take at most, when its heap has this size. */
export function threadBytes(memoryMib: number): number {
  const heapBytes = (YOUNG_GENERATION_MIB + memoryMib) * 1024 * 1024;
  return heapBytes + memoryMib * 1024 * 1024 + UNCOLLECTED_BYTES;
}

/** A worker thread of the pool, from its start to its end. */
class PoolThread {
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
