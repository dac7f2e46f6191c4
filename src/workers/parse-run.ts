import { within } from '../lib/async.js';
import type { AttachmentSink } from '../mail/read/limits.js';
import type { ParseOutcome } from '../usecases/ports.js';
import {
  type FromThread,
  type SinkCall,
  SMALL_MESSAGE,
  SOURCE_PIECE,
  SOURCE_WINDOW,
  type ToThread,
} from './parse-protocol.js';

export interface ParseRunOptions {
  readonly job: number;
  readonly source: AsyncIterable<Uint8Array>;
  readonly sink: AttachmentSink;
  readonly timeoutMs: number;
  readonly post: (message: ToThread, transfer: ArrayBuffer[]) => void;
  /** The time limit is exceeded: the thread that works on the message must be ended. */
  readonly onTimeUp: () => void;
}

/** How long a stop waits for unfinished calls of source and sink. */
const STOP_PATIENCE_MS = 1_000;

/** Parses one message on one thread: passes it the raw bytes, takes its attachments, and gives the outcome. */
export class ParseRun {
  /**
   * Rejects when the source or the sink failed, which says nothing about the message. Settles only when neither is in
   * use any more.
   */
  readonly outcome: Promise<ParseOutcome>;
  readonly #options: ParseRunOptions;
  readonly #clock: ParseClock;
  readonly #feed: ParseFeed;
  #finish: (outcome: ParseOutcome) => void = () => undefined;
  #storing: Promise<void> = Promise.resolve();
  #hasThreadAnswered = false;
  #isOver = false;
  #broken: { readonly error: unknown } | undefined;

  constructor(options: ParseRunOptions) {
    this.#options = options;
    this.#clock = new ParseClock(options.timeoutMs, options.onTimeUp);
    this.#feed = new ParseFeed({
      job: options.job,
      source: options.source,
      post: options.post,
      onStarving: isStarving => (isStarving ? this.#clock.pause() : this.#clock.resume()),
      onBroken: (error, hasBegun) => this.#break(error, hasBegun),
    });
    const finished = new Promise<ParseOutcome>(resolve => {
      this.#finish = resolve;
    });
    this.outcome = this.#conclude(finished);
  }

  /** Takes a message of the thread; late ones about an earlier job are ignored. */
  hear(message: FromThread): void {
    if (this.#isOver || message.kind === 'ready' || message.job !== this.#options.job) return;
    switch (message.kind) {
      case 'taken':
        this.#feed.taken(message.bytes);
        break;
      case 'attachments':
        this.#store(message.calls, () => {
          this.#options.post({ kind: 'stored', job: this.#options.job, bytes: message.bytes }, []);
        });
        break;
      case 'parsed':
        this.#hasThreadAnswered = true;
        this.#clock.stop();
        this.#store(message.calls, () => this.end({ status: 'parsed', prepared: message.prepared }));
        break;
      case 'failed':
        this.#hasThreadAnswered = true;
        this.end({ status: 'gave_up', reason: message.reason, detail: message.detail });
        break;
    }
  }

  /** Ends the run with this outcome, unless it has one already. */
  end(outcome: ParseOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clock.stop();
    this.#feed.cancel();
    this.#finish(outcome);
  }

  async #conclude(finished: Promise<ParseOutcome>): Promise<ParseOutcome> {
    const outcome = await finished;
    const released = Promise.all([this.#feed.done, this.#storing]);
    if (outcome.status === 'stopped') {
      await within(STOP_PATIENCE_MS, released);
      return outcome;
    }
    await released;
    if (this.#broken !== undefined) throw this.#broken.error;
    return outcome;
  }

  /** Calls the sink in order, one batch after the other. */
  #store(calls: readonly SinkCall[], then: () => void): void {
    this.#storing = this.#storing.then(async () => {
      this.#clock.pause();
      try {
        for (const call of calls) {
          if (this.#isOver || this.#broken !== undefined) return;
          await applyCall(this.#options.sink, call);
        }
        if (!this.#isOver && this.#broken === undefined) then();
      } catch (error) {
        this.#break(error, true);
      } finally {
        this.#clock.resume();
      }
    });
  }

  /**
   * Source or sink has failed. A thread that has begun is told so, and the run ends with its answer or at the time
   * limit: the thread is free when the run has ended.
   */
  #break(error: unknown, hasBegun: boolean): void {
    this.#broken ??= { error };
    if (hasBegun && !this.#hasThreadAnswered) {
      this.#options.post({ kind: 'abandon', job: this.#options.job }, []);
    } else {
      this.end({ status: 'gave_up', reason: 'error', detail: 'source or sink failed' });
    }
  }
}

function applyCall(sink: AttachmentSink, call: SinkCall): void | Promise<void> {
  switch (call.call) {
    case 'begin':
      return sink.begin(call.id);
    case 'write':
      return sink.write(call.bytes);
    case 'end':
      return sink.end(call.size);
  }
}

interface ParseFeedOptions {
  readonly job: number;
  readonly source: AsyncIterable<Uint8Array>;
  readonly post: (message: ToThread, transfer: ArrayBuffer[]) => void;
  /** Begins or ceases to be starved: the thread has taken everything and waits for the source. */
  readonly onStarving: (isStarving: boolean) => void;
  readonly onBroken: (error: unknown, hasBegun: boolean) => void;
}

/**
 * Passes the raw message from its source to a thread: in one post when it is small, else in pieces within the window.
 * The bytes are copied, not transferred, because the buffers belong to the caller. Copying 64 KiB takes microseconds.
 */
class ParseFeed {
  /** Resolves when the source is no longer in use; never rejects. */
  readonly done: Promise<void>;
  readonly #options: ParseFeedOptions;
  #untaken = 0;
  #isReading = false;
  #isStarving = false;
  #isCancelled = false;
  #hasBegun = false;
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
      if (!this.#isCancelled) onBroken(error, this.#hasBegun);
    }
  }

  async #feed(iterator: AsyncIterator<Uint8Array>): Promise<void> {
    const { job, post } = this.#options;
    const head: Uint8Array[] = [];
    let headBytes = 0;
    for (let next = await this.#read(iterator); next.done !== true; next = await this.#read(iterator)) {
      if (this.#hasBegun) {
        await this.#sendPieces(next.value);
      } else {
        head.push(next.value);
        headBytes += next.value.byteLength;
        if (headBytes > SMALL_MESSAGE) {
          this.#hasBegun = true;
          post({ kind: 'begin', job }, []);
          for (const chunk of head.splice(0)) await this.#sendPieces(chunk);
        }
      }
      if (this.#isCancelled) return;
    }
    if (this.#isCancelled) return;
    if (this.#hasBegun) post({ kind: 'end', job }, []);
    else this.#sendWhole(head, headBytes);
  }

  #sendWhole(chunks: readonly Uint8Array[], size: number): void {
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    this.#hasBegun = true;
    this.#options.post({ kind: 'message', job: this.#options.job, bytes }, [bytes.buffer]);
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
  #pauses = 0;
  #isStopped = false;

  constructor(limitMs: number, onTimeUp: () => void) {
    this.#remainingMs = limitMs;
    this.#onTimeUp = onTimeUp;
    this.#run();
  }

  /** Stops the clock until `resume` has been called as often as `pause`. */
  pause(): void {
    this.#pauses++;
    if (this.#pauses > 1 || this.#runningSince === undefined) return;
    clearTimeout(this.#timer);
    this.#remainingMs -= performance.now() - this.#runningSince;
    this.#runningSince = undefined;
  }

  resume(): void {
    this.#pauses--;
    if (this.#pauses === 0 && !this.#isStopped) this.#run();
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
