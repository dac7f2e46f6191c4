import { getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import type { Authentication } from '../domain/authentication.js';
import type { ParsedMessage } from '../mail/read/limits.js';
import {
  type Asked,
  type BatchedMessage,
  type CheckResult,
  type FromThread,
  Mark,
  type ParseResult,
  RESULTS_WAIT_MS,
  type ThreadSetup,
  type ToThread,
} from './parse-protocol.js';
import { type RunningCheck, ThreadChecks } from './parse-thread-checks.js';
import { prepareContent } from './parse-thread-content.js';
import { ThreadDns } from './parse-thread-dns.js';
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
  readonly #dns: ThreadDns;
  readonly #checks: ThreadChecks | null;
  readonly #maxExternalBytes: number;
  #queue: Queued[] = [];
  #current: ThreadJob | undefined;
  #isBusy = false;
  /** What is finished and not posted yet. */
  #results: Outgoing[] = [];
  /** What was found out of messages whose results are posted. */
  #later: CheckResult[] = [];
  #transfer: ArrayBuffer[] = [];
  #waitingBytes = 0;
  #waitingSince = 0;

  constructor(port: MessagePort, parse: Parse, setup: ThreadSetup) {
    this.#port = port;
    this.#parse = parse;
    this.#dns = new ThreadDns(questions => port.postMessage({ kind: 'ask', questions } satisfies FromThread));
    this.#checks = setup.checks === null ? null : new ThreadChecks(setup.checks, this.#dns);
    this.#maxExternalBytes = setup.maxExternalBytes;
  }

  hear(message: ToThread): void {
    if (message.kind === 'batch') {
      let at = 0;
      for (const one of message.messages) {
        const bytes = message.bytes.subarray(at, at + one.size);
        const { job, size, asked, place } = one;
        this.#queue.push({ job, size, asked, place, bytes, marks: message.marks });
        at += one.size;
      }
      if (!this.#isBusy) void this.#workOnBatch();
    } else if (message.kind === 'answers') {
      this.#dns.hear(message.answers);
    } else if (message.kind === 'begin') {
      void this.#workAlone(message.job, message.asked);
    } else if (this.#current?.number === message.job) {
      this.#current.hear(message);
    }
  }

  async #workOnBatch(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#claim(); next !== undefined; next = this.#claim()) {
      await this.#work(next.job, next.asked, next.bytes);
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

  async #workAlone(number: number, asked: Asked): Promise<void> {
    await this.#work(number, asked);
    // What the cache knows is found out by then, and saves a post.
    await new Promise(resolve => setImmediate(resolve));
    this.#post();
  }

  /** @param bytes the whole message, if it is there */
  async #work(number: number, asked: Asked, bytes?: Uint8Array): Promise<void> {
    const job = new ThreadJob(this.#port, number, this.#maxExternalBytes);
    this.#current = job;
    const check = asked.origin === null ? null : (this.#checks?.begin(asked.origin, asked) ?? null);
    if (bytes !== undefined) {
      job.take(bytes);
      check?.feed(bytes);
    }
    const parse = asked.isCheckOnly ? null : this.#parse;
    const { result, authentication } = await job.run(parse, check, bytes !== undefined);
    this.#current = undefined;
    if (this.#results.length === 0) this.#waitingSince = performance.now();
    const outgoing: Outgoing = { result, isPosted: false };
    this.#results.push(outgoing);
    void authentication?.then(found => this.#note(outgoing, found));
    if (result.status === 'failed') {
      // The pool is going to end the thread: what waits behind is for another.
      if (result.reason === 'memory') this.#queue = [];
      return;
    }
    if (result.prepared === null) return;
    const { json } = result.prepared;
    this.#waitingBytes += json.byteLength;
    if (json.byteLength >= TRANSFER_FROM) this.#transfer.push(json.buffer as ArrayBuffer);
  }

  #note(outgoing: Outgoing, authentication: Authentication): void {
    const { result } = outgoing;
    if (result.status === 'failed') return;
    if (!outgoing.isPosted) {
      outgoing.result = { ...result, check: authentication };
      return;
    }
    if (this.#later.length === 0) setImmediate(() => this.#postLater());
    this.#later.push({ job: result.job, authentication });
  }

  #postLater(): void {
    this.#port.postMessage({ kind: 'checked', checks: this.#later } satisfies FromThread);
    this.#later = [];
  }

  get #mustPost(): boolean {
    return (
      this.#waitingBytes > MAX_WAITING_BYTES || performance.now() - this.#waitingSince >= RESULTS_WAIT_MS
    );
  }

  #post(): void {
    if (this.#results.length === 0) return;
    for (const outgoing of this.#results) outgoing.isPosted = true;
    const message: FromThread = { kind: 'results', results: this.#results.map(({ result }) => result) };
    this.#port.postMessage(message, this.#transfer);
    this.#results = [];
    this.#transfer = [];
    this.#waitingBytes = 0;
  }
}

/** A result on its way out, which may still learn who has written the message. */
interface Outgoing {
  result: ParseResult;
  isPosted: boolean;
}

interface Ran {
  readonly result: ParseResult;
  /** What follows when the DNS has answered; null where it is not asked. Never rejects. */
  readonly authentication: Promise<Authentication> | null;
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

  hear(message: Exclude<ToThread, { kind: 'batch' | 'begin' | 'answers' }>): void {
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

  /**
   * Never rejects.
   * @param parse null when the message is only to be checked
   * @param isFed the check has had the whole message
   */
  async run(parse: Parse | null, check: RunningCheck | null, isFed: boolean): Promise<Ran> {
    const job = this.number;
    try {
      const source = check === null || isFed ? this.#source : fedTo(check, this.#source);
      const parsed = parse === null ? null : await parse(source);
      // A parser may have enough before the end.
      if (source !== this.#source) for await (const _ of source);
      const prepared = parsed === null ? null : prepareContent(parsed);
      const authentication = check === null ? null : check.finish(parsed?.content.from);
      const later = authentication === null ? null : 'later';
      return { result: { status: 'parsed', job, prepared, check: later }, authentication };
    } catch (error) {
      const reason = this.#isOverMemory ? 'memory' : 'error';
      return {
        result: { status: 'failed', job, reason, detail: describeError(error) },
        authentication: null,
      };
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

/** The same bytes, of which the check sees each once. */
function fedTo(check: RunningCheck, source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const bytes of source) {
        check.feed(bytes);
        yield bytes;
      }
    },
  };
}

/** Class, code and place of an error, without its message, which may quote the mail. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : '';
  const frame = /^ {4}at .*?([^/\\() ]+:\d+:\d+)\)?$/m.exec(error.stack ?? '');
  return `${error.constructor.name}${code}${frame === null ? '' : ` at ${frame[1]}`}`;
}
