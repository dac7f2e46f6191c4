import type { SentMetadata } from '../../contract/sent.js';
import type { MessageId } from '../../domain/ids.js';
import { within } from '../../lib/async.js';

/** How a send ended, for the request that waits for it. */
export interface SendResult {
  readonly message: SentMetadata;
  /** False when the outcome is known but could not be saved: the client is told it all the same. */
  readonly isPersisted: boolean;
}

/** Composed messages kept for the relay, together; what does not fit is composed again from the store. */
export const MAX_COMPOSED_BYTES = 64 * 2 ** 20;

/**
 * Sends of this process between reservation and outcome: the composed bytes for the relay, and the waiting request.
 * Both only save time: what must happen is in the store. Bytes are kept only while a request waits, so nothing is left
 * of a message that never reaches the relay.
 */
export class SendsInFlight {
  readonly #composed = new Map<MessageId, Uint8Array>();
  readonly #waiting = new Map<MessageId, (result: SendResult | null) => void>();
  #bytes = 0;
  /** When waiting ends for all, by the clock of the process. */
  #endsAtMs = Number.POSITIVE_INFINITY;

  /** Bytes kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Keeps the bytes of a message for the relay, and waits for its outcome.
   * @returns null after `timeoutMs`, or when there will be no outcome
   */
  hold(id: MessageId, content: Uint8Array, timeoutMs: number): Promise<SendResult | null> {
    if (this.#bytes + content.length <= MAX_COMPOSED_BYTES) {
      this.#composed.set(id, content);
      this.#bytes += content.length;
    }
    return this.#wait(id, timeoutMs);
  }

  /** The bytes of a message, once; they are not kept any longer. */
  take(id: MessageId): Uint8Array | undefined {
    const content = this.#composed.get(id);
    if (content !== undefined) {
      this.#composed.delete(id);
      this.#bytes -= content.length;
    }
    return content;
  }

  /** Wakes the waiting request, if there is one; null when there is no outcome to report. */
  settle(id: MessageId, result: SendResult | null): void {
    this.take(id);
    const wake = this.#waiting.get(id);
    this.#waiting.delete(id);
    wake?.(result);
  }

  /** The process ends: all waiting requests are answered within this many milliseconds. */
  endWithin(ms: number): void {
    this.#endsAtMs = performance.now() + ms;
    const end = (): void => {
      for (const id of [...this.#waiting.keys()]) this.settle(id, null);
    };
    setTimeout(end, ms).unref();
  }

  async #wait(id: MessageId, timeoutMs: number): Promise<SendResult | null> {
    const leftMs = Math.max(0, Math.min(timeoutMs, this.#endsAtMs - performance.now()));
    const settled = new Promise<SendResult | null>(resolve => this.#waiting.set(id, resolve));
    const result = await within(leftMs, settled);
    // Nobody waits any more, whoever has ended it.
    if (result === null) this.settle(id, null);
    return result;
  }
}
