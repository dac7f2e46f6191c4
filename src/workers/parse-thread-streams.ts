import type { AttachmentSink } from '../mail/read/limits.js';
import { SINK_BATCH, SINK_WINDOW, type SinkCall, SOURCE_WINDOW } from './parse-protocol.js';

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

type Send = (calls: readonly SinkCall[], bytes: number, transfer: ArrayBuffer[]) => void;

/** Smaller chunks are copied together into one buffer: posting many small buffers is slow. */
const SMALL_CHUNK = 16 * 1024;
const LARGE_BUFFER = 64 * 1024;

/** The attachment sink in a thread: gathers calls into posts, and waits while too many bytes are unacknowledged. */
export class ThreadSink implements AttachmentSink {
  readonly #send: Send;
  readonly #look: (bytes: number) => void;
  #calls: SinkCall[] = [];
  #transfer: ArrayBuffer[] = [];
  #gathered = 0;
  #unacknowledged = 0;
  #ofThisAttachment = 0;
  #buffer: Uint8Array | undefined;
  #filled = 0;
  #isAbandoned = false;
  #wake: (() => void) | undefined;

  constructor(send: Send, look: (bytes: number) => void) {
    this.#send = send;
    this.#look = look;
  }

  begin(id: string): void {
    this.#ofThisAttachment = 0;
    this.#calls.push({ call: 'begin', id });
  }

  write(chunk: Uint8Array): void | Promise<void> {
    if (this.#isAbandoned) throw new Error('the message was abandoned');
    if (chunk.byteLength === 0) return;
    this.#look(chunk.byteLength);
    this.#gathered += chunk.byteLength;
    this.#ofThisAttachment += chunk.byteLength;
    if (chunk.byteLength >= SMALL_CHUNK) {
      this.#closeBuffer();
      this.#pushWrite(ownBytes(chunk));
    } else {
      this.#copyIn(chunk);
    }
    if (this.#gathered < SINK_BATCH) return;
    this.#flush();
    if (this.#unacknowledged + SINK_BATCH > SINK_WINDOW) return this.#whenAcknowledged();
  }

  end(size: number): void {
    this.#closeBuffer();
    this.#calls.push({ call: 'end', size });
  }

  acknowledge(bytes: number): void {
    this.#unacknowledged -= bytes;
    if (this.#unacknowledged + SINK_BATCH <= SINK_WINDOW) this.#wake?.();
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#wake?.();
  }

  /** The calls that were not posted yet, to be posted with the result. */
  takeRest(): readonly SinkCall[] {
    this.#closeBuffer();
    return this.#calls;
  }

  #flush(): void {
    this.#closeBuffer();
    this.#unacknowledged += this.#gathered;
    this.#send(this.#calls, this.#gathered, this.#transfer);
    this.#calls = [];
    this.#transfer = [];
    this.#gathered = 0;
  }

  async #whenAcknowledged(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
    if (this.#isAbandoned) throw new Error('the message was abandoned');
  }

  #copyIn(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.byteLength > 0) {
      // Most attachments are small and do not need a large buffer.
      this.#buffer ??= Buffer.allocUnsafeSlow(
        this.#ofThisAttachment > SMALL_CHUNK ? LARGE_BUFFER : SMALL_CHUNK,
      );
      const part = rest.subarray(0, this.#buffer.byteLength - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.byteLength;
      rest = rest.subarray(part.byteLength);
      if (this.#filled === this.#buffer.byteLength) this.#closeBuffer();
    }
  }

  #closeBuffer(): void {
    if (this.#buffer !== undefined && this.#filled > 0) {
      this.#pushWrite(this.#buffer.subarray(0, this.#filled));
    }
    this.#buffer = undefined;
    this.#filled = 0;
  }

  #pushWrite(bytes: Uint8Array): void {
    this.#calls.push({ call: 'write', bytes });
    this.#transfer.push(bytes.buffer as ArrayBuffer);
  }
}

/** The same bytes in a buffer of their own, which can be transferred: without copying if they fill theirs. */
export function ownBytes(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const isOwn = chunk.buffer instanceof ArrayBuffer && chunk.byteLength === chunk.buffer.byteLength;
  if (isOwn) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return new Uint8Array(chunk);
}
