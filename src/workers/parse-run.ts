import { within } from '../lib/async.js';
import type { ParseOutcome } from '../usecases/ports.js';
import {
  type Asked,
  type FromThread,
  type ParsedResult,
  type ParseResult,
  SOURCE_PIECE,
  SOURCE_WINDOW,
  type ToThread,
} from './parse-protocol.js';

/** How long a stop waits for a source to come to rest. */
const STOP_PATIENCE_MS = 1_000;

export interface ParseRunOptions {
  readonly job: number;
  readonly source: AsyncIterable<Uint8Array>;
  readonly asked: Asked;
  readonly timeoutMs: number;
  readonly post: (message: ToThread, transfer: ArrayBuffer[]) => void;
  /** The outcome of a message that the thread is done with, which may have to wait for its check. */
  readonly outcomeOf: (result: ParsedResult) => ParseOutcome | Promise<ParseOutcome>;
  /** The time limit is exceeded: the thread that works on the message must be ended. */
  readonly onTimeUp: () => void;
}

/** Parses one message on a thread that it has for itself: passes the raw bytes in pieces, and gives the outcome. */
export class ParseRun {
  /**
   * How the thread came out of it. Rejects when the source failed, which says nothing about the message. Settles only when
   * the source is not in use any more.
   */
  readonly outcome: Promise<ParseOutcome | { readonly status: 'done' }>;
  readonly #options: ParseRunOptions;
  readonly #clock: ParseClock;
  readonly #feed: ParseFeed;
  #finish: (outcome: ParseOutcome | { readonly status: 'done' }) => void = () => undefined;
  #hasThreadAnswered = false;
  #isOver = false;
  #answer: ParseOutcome | Promise<ParseOutcome> = { status: 'stopped' };
  #broken: { readonly error: unknown } | undefined;

  constructor(options: ParseRunOptions) {
    this.#options = options;
    this.#clock = new ParseClock(options.timeoutMs, options.onTimeUp);
    this.#feed = new ParseFeed({
      job: options.job,
      asked: options.asked,
      source: options.source,
      post: options.post,
      onStarving: isStarving => (isStarving ? this.#clock.pause() : this.#clock.resume()),
      onBroken: error => this.#break(error),
    });
    const finished = new Promise<ParseOutcome | { readonly status: 'done' }>(resolve => {
      this.#finish = resolve;
    });
    this.outcome = this.#whenReleased(finished);
  }

  /** As `outcome`, with what the message came to, its check included; later than that if the check takes longer. */
  async answer(): Promise<ParseOutcome> {
    const outcome = await this.outcome;
    return outcome.status === 'done' ? this.#answer : outcome;
  }

  /** How many messages are without an outcome. */
  get size(): number {
    return this.#isOver ? 0 : 1;
  }

  /** Takes a message of the thread; late ones about an earlier job are ignored. */
  hear(message: FromThread): void {
    if (this.#isOver || message.kind === 'ready' || message.kind === 'checked' || message.kind === 'ask')
      return;
    if (message.kind === 'results') {
      const result = message.results.find(({ job }) => job === this.#options.job);
      if (result !== undefined) this.#conclude(result);
    } else if (message.job === this.#options.job) {
      this.#feed.taken(message.bytes);
    }
  }

  /** Ends the run with this outcome, unless it has one already. */
  end(outcome: ParseOutcome | { readonly status: 'done' }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clock.stop();
    this.#feed.cancel();
    this.#finish(outcome);
  }

  /** Ends the run as `stopped`. Resolves when the source is at rest, or does not get there. */
  async stop(): Promise<void> {
    this.end({ status: 'stopped' });
    await this.outcome.catch(() => undefined);
  }

  #conclude(result: ParseResult): void {
    this.#hasThreadAnswered = true;
    if (result.status === 'failed') {
      this.end({ status: 'gave_up', reason: result.reason, detail: result.detail });
      return;
    }
    this.#answer = this.#options.outcomeOf(result);
    this.end({ status: 'done' });
  }

  async #whenReleased<Outcome extends { readonly status: string }>(
    finished: Promise<Outcome>,
  ): Promise<Outcome> {
    const outcome = await finished;
    const released = this.#feed.done;
    if (outcome.status === 'stopped') {
      await within(STOP_PATIENCE_MS, released);
      return outcome;
    }
    await released;
    if (this.#broken !== undefined) throw this.#broken.error;
    return outcome;
  }

  /**
   * The source has failed. The thread is told so, and the run ends with its answer or at the time limit: the thread is
   * free when the run has ended.
   */
  #break(error: unknown): void {
    this.#broken ??= { error };
    if (!this.#hasThreadAnswered) {
      this.#options.post({ kind: 'abandon', job: this.#options.job }, []);
    } else {
      this.end({ status: 'gave_up', reason: 'error', detail: 'the source failed' });
    }
  }
}

interface ParseFeedOptions {
  readonly job: number;
  readonly asked: Asked;
  readonly source: AsyncIterable<Uint8Array>;
  readonly post: (message: ToThread, transfer: ArrayBuffer[]) => void;
  /** Begins or ceases to be starved: the thread has taken everything and waits for the source. */
  readonly onStarving: (isStarving: boolean) => void;
  readonly onBroken: (error: unknown) => void;
}

/**
 * Passes the raw message from its source to a thread, in pieces within the window. The bytes are copied, not transferred,
 * because the buffers belong to the caller. Copying 64 KiB takes microseconds.
 */
class ParseFeed {
  /** Resolves when the source is no longer in use; never rejects. */
  readonly done: Promise<void>;
  readonly #options: ParseFeedOptions;
  #untaken = 0;
  #isReading = false;
  #isStarving = false;
  #isCancelled = false;
  #wake: (() => void) | undefined;

  constructor(options: ParseFeedOptions) {
    this.#options = options;
    this.done = this.#run();
  }

  /** The thread has taken this many bytes of what was posted. */
  taken(bytes: number): void {
    this.#untaken -= bytes;
    this.#wake?.();
    this.#noticeStarving();
  }

  /** Stops passing bytes on, and closes the source. */
  cancel(): void {
    this.#isCancelled = true;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    const { source, onBroken } = this.#options;
    const iterator = source[Symbol.asyncIterator]();
    try {
      await this.#feed(iterator);
      if (this.#isCancelled) await iterator.return?.();
    } catch (error) {
      if (!this.#isCancelled) onBroken(error);
    }
  }

  async #feed(iterator: AsyncIterator<Uint8Array>): Promise<void> {
    const { job, asked, post } = this.#options;
    post({ kind: 'begin', job, asked }, []);
    for (let next = await this.#read(iterator); next.done !== true; next = await this.#read(iterator)) {
      await this.#sendPieces(next.value);
      if (this.#isCancelled) return;
    }
    if (!this.#isCancelled) post({ kind: 'end', job }, []);
  }

  async #sendPieces(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.byteLength; from += SOURCE_PIECE) {
      const bytes = new Uint8Array(chunk.subarray(from, from + SOURCE_PIECE));
      while (this.#untaken + bytes.byteLength > SOURCE_WINDOW && !this.#isCancelled) await this.#untilTaken();
      if (this.#isCancelled) return;
      this.#untaken += bytes.byteLength;
      this.#options.post({ kind: 'chunk', job: this.#options.job, bytes }, [bytes.buffer]);
    }
  }

  async #untilTaken(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  async #read(iterator: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    this.#isReading = true;
    this.#noticeStarving();
    try {
      return await iterator.next();
    } finally {
      this.#isReading = false;
      this.#noticeStarving();
    }
  }

  #noticeStarving(): void {
    const isStarving = this.#isReading && this.#untaken === 0;
    if (isStarving === this.#isStarving) return;
    this.#isStarving = isStarving;
    this.#options.onStarving(isStarving);
  }
}

/**
 * Measures the time that a thread has worked on its message. It does not run while the thread waits for us, because the
 * message is not to blame for a store that is slow to read or write.
 */
class ParseClock {
  readonly #onTimeUp: () => void;
  #remainingMs: number;
  #runningSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(limitMs: number, onTimeUp: () => void) {
    this.#remainingMs = limitMs;
    this.#onTimeUp = onTimeUp;
    this.#run();
  }

  /** Stops the clock until `resume`. */
  pause(): void {
    if (this.#runningSince === undefined) return;
    clearTimeout(this.#timer);
    this.#remainingMs -= performance.now() - this.#runningSince;
    this.#runningSince = undefined;
  }

  resume(): void {
    if (this.#runningSince === undefined && !this.#isStopped) this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#runningSince = performance.now();
    this.#timer = setTimeout(this.#onTimeUp, Math.max(0, this.#remainingMs));
  }
}
