import { getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import type { ParsedMessage } from '../mail/read/limits.js';
import {
  type BatchedMessage,
  type FromThread,
  Mark,
  type ParseResult,
  RESULTS_WAIT_MS,
  type ThreadSetup,
  type ToThread,
} from './parse-protocol.js';
import { prepareContent } from './parse-thread-content.js';
import { ThreadSource } from './parse-thread-source.js';

export type Parse = (source: AsyncIterable<Uint8Array>) => Promise<ParsedMessage>;

/** The memory is checked whenever this many bytes have been read. */
const LOOK_EVERY = 512 * 1024;

/** Results with more bytes than this do not wait for others, and large buffers are transferred instead of copied. */
const MAX_WAITING_BYTES = 512 * 1024;
const TRANSFER_FROM = 16 * 1024;

/** The thread's side of the protocol in `parse-protocol.ts`: calls `parse` for one message at a time. */
export function serveParses(port: MessagePort, parse: Parse, setup: ThreadSetup): void {
  const server = new ParseServer(port, parse, setup);
  port.on('message', (message: ToThread) => server.hear(message));
  port.postMessage({ kind: 'ready' } satisfies FromThread);
}

interface Queued extends BatchedMessage {
  readonly bytes: Uint8Array;
  readonly marks: Int32Array;
}

class ParseServer {
  readonly #port: MessagePort;
  readonly #parse: Parse;
  readonly #maxExternalBytes: number;
  #queue: Queued[] = [];
  #current: ThreadJob | undefined;
  #isBusy = false;
  /** What is finished and not posted yet. */
  #results: ParseResult[] = [];
  #transfer: ArrayBuffer[] = [];
  #waitingBytes = 0;
  #waitingSince = 0;

  constructor(port: MessagePort, parse: Parse, setup: ThreadSetup) {
    this.#port = port;
    this.#parse = parse;
    this.#maxExternalBytes = setup.maxExternalBytes;
  }

  hear(message: ToThread): void {
    if (message.kind === 'batch') {
      let at = 0;
      for (const one of message.messages) {
        const bytes = message.bytes.subarray(at, at + one.size);
        this.#queue.push({ ...one, bytes, marks: message.marks });
        at += one.size;
      }
      if (!this.#isBusy) void this.#workOnBatch();
    } else if (message.kind === 'begin') {
      void this.#work(message.job).then(() => this.#post());
    } else if (this.#current?.number === message.job) {
      this.#current.hear(message);
    }
  }

  async #workOnBatch(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#claim(); next !== undefined; next = this.#claim()) {
      await this.#work(next.job, next.bytes);
      // Whatever of this message is still under way fails now, while the mark is on it.
      await new Promise(resolve => setImmediate(resolve));
      if (this.#mustPost) this.#post();
    }
    this.#isBusy = false;
    this.#post();
  }

  /** The next message of the queue that was not withdrawn, marked as begun. */
  #claim(): Queued | undefined {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const was = Atomics.compareExchange(next.marks, next.place, Mark.waiting, Mark.begun);
      if (was === Mark.waiting) return next;
    }
    return undefined;
  }

  /** @param bytes the whole message, if it is there */
  async #work(number: number, bytes?: Uint8Array): Promise<void> {
    const job = new ThreadJob(this.#port, number, this.#maxExternalBytes);
    this.#current = job;
    if (bytes !== undefined) job.take(bytes);
    const result = await job.run(this.#parse);
    this.#current = undefined;
    if (this.#results.length === 0) this.#waitingSince = performance.now();
    this.#results.push(result);
    if (result.status === 'failed') {
      // The pool is going to end the thread: what waits behind is for another.
      if (result.reason === 'memory') this.#queue = [];
      return;
    }
    const { json } = result.prepared;
    this.#waitingBytes += json.byteLength;
    if (json.byteLength >= TRANSFER_FROM) this.#transfer.push(json.buffer as ArrayBuffer);
  }

  get #mustPost(): boolean {
    return (
      this.#waitingBytes > MAX_WAITING_BYTES || performance.now() - this.#waitingSince >= RESULTS_WAIT_MS
    );
  }

  #post(): void {
    if (this.#results.length === 0) return;
    const message: FromThread = { kind: 'results', results: this.#results };
    this.#port.postMessage(message, this.#transfer);
    this.#results = [];
    this.#transfer = [];
    this.#waitingBytes = 0;
  }
}

class ThreadJob {
  readonly number: number;
  readonly #source: ThreadSource;
  /** What the thread held before, including garbage of earlier messages, does not count against this message. */
  readonly #externalAtStart = getHeapStatistics().external_memory;
  readonly #maxExternalBytes: number;
  #unlooked = 0;
  #isOverMemory = false;

  constructor(port: MessagePort, number: number, maxExternalBytes: number) {
    this.number = number;
    this.#maxExternalBytes = maxExternalBytes;
    this.#source = new ThreadSource(
      bytes => port.postMessage({ kind: 'taken', job: number, bytes } satisfies FromThread),
      bytes => this.#watchMemory(bytes),
    );
  }

  /** Gives it the whole message. */
  take(bytes: Uint8Array): void {
    this.#source.push(bytes);
    this.#source.end();
  }

  hear(message: Exclude<ToThread, { kind: 'batch' | 'begin' }>): void {
    switch (message.kind) {
      case 'chunk':
        this.#source.push(message.bytes);
        break;
      case 'end':
        this.#source.end();
        break;
      case 'abandon':
        this.#source.abandon();
        break;
    }
  }

  /** Never rejects. */
  async run(parse: Parse): Promise<ParseResult> {
    const job = this.number;
    try {
      return { status: 'parsed', job, prepared: prepareContent(await parse(this.#source)) };
    } catch (error) {
      const reason = this.#isOverMemory ? 'memory' : 'error';
      return { status: 'failed', job, reason, detail: describeError(error) };
    } finally {
      this.#source.close();
    }
  }

  /** V8 limits the heap. Buffers are outside of it and are limited here. */
  #watchMemory(bytes: number): void {
    this.#unlooked += bytes;
    if (this.#unlooked < LOOK_EVERY) return;
    this.#unlooked = 0;
    if (getHeapStatistics().external_memory - this.#externalAtStart <= this.#maxExternalBytes) return;
    this.#isOverMemory = true;
    throw new Error('buffers over the memory limit');
  }
}

/** Class, code and place of an error, without its message, which may quote the mail. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : '';
  const frame = /^ {4}at .*?([^/\\() ]+:\d+:\d+)\)?$/m.exec(error.stack ?? '');
  return `${error.constructor.name}${code}${frame === null ? '' : ` at ${frame[1]}`}`;
}
