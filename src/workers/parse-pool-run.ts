import { setTimeout as delay } from 'node:timers/promises';
import type { AttachmentSink } from '../mail/parsed-message.js';
import type { ParseOutcome } from '../usecases/ports.js';
import { ParseClock } from './parse-pool-clock.js';
import { ParseFeed } from './parse-pool-feed.js';
import type { FromThread, SinkCall, ToThread } from './parse-protocol.js';

export interface ParseRunOptions {
  readonly job: number;
  readonly source: AsyncIterable<Uint8Array>;
  readonly sink: AttachmentSink;
  readonly timeoutMs: number;
  readonly post: (message: ToThread, transfer: ArrayBuffer[]) => void;
  /** The message has had its time; the thread that works on it must be ended. */
  readonly onTimeUp: () => void;
}

/** How long a stop waits for a call of source or sink that is under way. */
const STOP_PATIENCE_MS = 1_000;

/** One message on one thread: feeds it, empties it, and says how it went. */
export class ParseRun {
  /**
   * Rejects when the source or the sink failed, which is no word about the message. Settles only when
   * neither is in use any more.
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

  /** Ends the run with this outcome, unless it has one. */
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
      const patience = new AbortController();
      const bound = delay(STOP_PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([released, bound]);
      patience.abort();
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
   * Source or sink failed. A thread that has begun is told, and the run ends with its answer (or with its
   * time), so that the thread is free when the run is over.
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
