import { SMALL_MESSAGE, SOURCE_PIECE, SOURCE_WINDOW, type ToThread } from './parse-protocol.js';

export interface ParseFeedOptions {
  readonly job: number;
  readonly source: AsyncIterable<Uint8Array>;
  readonly post: (message: ToThread, transfer: ArrayBuffer[]) => void;
  /** The thread has taken everything and the source has nothing yet: it waits for us. */
  readonly onStarving: (isStarving: boolean) => void;
  readonly onBroken: (error: unknown, hasBegun: boolean) => void;
}

/**
 * Carries the raw message from its source to a thread, in one post when it is small, else in pieces within
 * the window. Bytes are copied, not given away: the buffers are the caller's, and 64 KiB cost microseconds.
 */
export class ParseFeed {
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

  /** Ends the feeding; the source is closed. */
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
