import { Worker } from 'node:worker_threads';
import { backOffMs, reasonOf } from '../lib/async.js';
import type { Logger } from '../usecases/ports.js';
import type { FromThread, IndexSetup, ThreadAnswer, ToThread } from './protocol.js';

export interface ThreadOptions {
  readonly setup: IndexSetup;
  readonly log: Logger;
}

/** Heap of a thread: a batch, and the start of a long content as text and as words. */
const HEAP_MIB = 128;
const RESTART_MS = { firstMs: 250, longestMs: 30_000 } as const;
/** A thread that lives so long has started well. */
const SOUND_MS = 60_000;
/** How long a thread may take to close its files. */
const END_MS = 3_000;

type Request = Exclude<ToThread, { readonly kind: 'end' }>;
type WithoutId<Kind> = Kind extends unknown ? Omit<Kind, 'id'> : never;

/** A thread of the index, which is started anew whenever it ends by itself. */
export class IndexThread {
  readonly #options: ThreadOptions;
  readonly #asked = new Map<number, (answer: ThreadAnswer) => void>();
  #worker: Worker | null = null;
  #nextId = 1;
  #deaths = 0;
  #startedAt = 0;
  #restart: NodeJS.Timeout | null = null;
  #isStopping = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#startedAt = performance.now();
    const worker = new Worker(new URL('./index-thread.js', import.meta.url), {
      workerData: this.#options.setup,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    // What libraries print must neither reach our log nor fill a buffer.
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('message', (message: FromThread) => this.#hear(message));
    worker.on('error', error => this.#die(worker, reasonOf(error)));
    worker.on('exit', code => this.#die(worker, `exit code ${code}`));
    this.#worker = worker;
  }

  /** Never rejects. While the thread does not run, and when it ends before it has answered, the answer is `failed`. */
  ask(request: WithoutId<Request>, transfer: ArrayBuffer[] = []): Promise<ThreadAnswer> {
    const worker = this.#worker;
    if (worker === null) return Promise.resolve({ kind: 'failed', reason: 'the thread is not running' });
    const id = this.#nextId++;
    return new Promise(resolve => {
      this.#asked.set(id, resolve);
      worker.postMessage({ ...request, id } satisfies ToThread, transfer);
    });
  }

  /** Lets the thread finish what it was asked, and close its files. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === null) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>(resolve => {
      worker.once('exit', () => resolve());
      timer = setTimeout(resolve, END_MS);
      worker.postMessage({ kind: 'end' } satisfies ToThread);
    });
    clearTimeout(timer);
    await worker.terminate();
    this.#failAll('the service is being stopped');
  }

  #hear(message: FromThread): void {
    if ('id' in message) {
      const resolve = this.#asked.get(message.id);
      this.#asked.delete(message.id);
      resolve?.(message);
    }
  }

  #die(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#failAll('its thread ended');
    if (this.#isStopping) return;
    this.#deaths = performance.now() - this.#startedAt > SOUND_MS ? 0 : this.#deaths + 1;
    const waitMs = backOffMs(Math.max(0, this.#deaths - 1), RESTART_MS);
    const { log, setup } = this.#options;
    log.error(
      { role: setup.role, reason, wait_ms: waitMs },
      'a thread of the search index ended: it is started again',
    );
    this.#restart = setTimeout(() => this.start(), waitMs);
    this.#restart.unref();
  }

  #failAll(reason: string): void {
    const waiting = [...this.#asked.values()];
    this.#asked.clear();
    for (const resolve of waiting) resolve({ kind: 'failed', reason });
  }
}
