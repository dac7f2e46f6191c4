import { SOURCE_WINDOW } from './parse-protocol.js';

/** The raw message in a thread: the pool posts it, the parser reads it at its own pace. */
export class ThreadSource implements AsyncIterable<Uint8Array> {
  readonly #reportTaken: (bytes: number) => void;
  readonly #look: (bytes: number) => void;
  #chunks: Uint8Array[] = [];
  #taken = 0;
  #state: 'open' | 'ended' | 'abandoned' | 'closed' = 'open';
  #wake: (() => void) | undefined;

  constructor(reportTaken: (bytes: number) => void, look: (bytes: number) => void) {
    this.#reportTaken = reportTaken;
    this.#look = look;
  }

  push(bytes: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#chunks.push(bytes);
    this.#wake?.();
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended';
    this.#wake?.();
  }

  /** The rest will not come: the reader gets an error. */
  abandon(): void {
    this.#state = 'abandoned';
    this.#chunks = [];
    this.#wake?.();
  }

  /** The parser has finished, whether it has read everything or not. */
  close(): void {
    this.#state = 'closed';
    this.#chunks = [];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#take(chunk.byteLength);
        yield chunk;
        continue;
      }
      if (this.#state === 'abandoned') throw new Error('the message was abandoned');
      if (this.#state !== 'open') return;
      // This also tells the pool that the thread waits, which stops the clock.
      this.#report();
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  #take(bytes: number): void {
    this.#look(bytes);
    this.#taken += bytes;
    if (this.#taken >= SOURCE_WINDOW / 4 && this.#state === 'open') this.#report();
  }

  #report(): void {
    if (this.#taken === 0) return;
    this.#reportTaken(this.#taken);
    this.#taken = 0;
  }
}
