import { getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import type { AttachmentSink, ParsedMessage } from '../mail/read/limits.js';
import type { FromThread, ThreadSetup, ToThread } from './parse-protocol.js';
import { prepareContent } from './parse-thread-content.js';
import { ThreadSink, ThreadSource } from './parse-thread-streams.js';

export type Parse = (source: AsyncIterable<Uint8Array>, sink: AttachmentSink) => Promise<ParsedMessage>;

/** The memory is checked whenever this many bytes have been read or written. */
const LOOK_EVERY = 512 * 1024;

/** The thread's side of the protocol in `parse-protocol.ts`: calls `parse` for one message at a time. */
export function serveParses(port: MessagePort, parse: Parse, setup: ThreadSetup): void {
  let current: ThreadJob | undefined;
  port.on('message', (message: ToThread) => {
    if (message.kind === 'message' || message.kind === 'begin') {
      current = new ThreadJob(port, message.job, setup.maxExternalBytes);
      void current.run(parse);
    }
    if (current?.number === message.job) current.hear(message);
  });
  port.postMessage({ kind: 'ready' } satisfies FromThread);
}

class ThreadJob {
  readonly number: number;
  readonly #port: MessagePort;
  readonly #source: ThreadSource;
  readonly #sink: ThreadSink;
  /** What the thread held before, including garbage of earlier messages, does not count against this message. */
  readonly #externalAtStart = getHeapStatistics().external_memory;
  readonly #maxExternalBytes: number;
  #unlooked = 0;
  #isOverMemory = false;

  constructor(port: MessagePort, number: number, maxExternalBytes: number) {
    this.number = number;
    this.#port = port;
    this.#maxExternalBytes = maxExternalBytes;
    const look = (bytes: number): void => this.#watchMemory(bytes);
    this.#source = new ThreadSource(bytes => this.#post({ kind: 'taken', job: number, bytes }), look);
    this.#sink = new ThreadSink((calls, bytes, transfer) => {
      this.#post({ kind: 'attachments', job: number, calls, bytes }, transfer);
    }, look);
  }

  hear(message: ToThread): void {
    switch (message.kind) {
      case 'message':
        this.#source.push(message.bytes);
        this.#source.end();
        break;
      case 'chunk':
        this.#source.push(message.bytes);
        break;
      case 'end':
        this.#source.end();
        break;
      case 'stored':
        this.#sink.acknowledge(message.bytes);
        break;
      case 'abandon':
        this.#source.abandon();
        this.#sink.abandon();
        break;
      case 'begin':
        break;
    }
  }

  async run(parse: Parse): Promise<void> {
    try {
      const message = await parse(this.#source, this.#sink);
      const prepared = prepareContent(message);
      const { calls, transfer } = this.#sink.takeRest();
      this.#post({ kind: 'parsed', job: this.number, prepared, calls }, [prepared.json.buffer, ...transfer]);
    } catch (error) {
      const reason = this.#isOverMemory ? 'memory' : 'error';
      this.#post({ kind: 'failed', job: this.number, reason, detail: describeError(error) });
    } finally {
      this.#source.close();
    }
  }

  #post(message: FromThread, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer);
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
