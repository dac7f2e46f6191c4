import { type Reply, replies } from './replies.js';
import type { SmtpListenerOptions } from './smtp-listener-options.js';
import type { RefusalReason } from './smtp-stats.js';

type DataLimits = Pick<SmtpListenerOptions, 'dataTimeoutMs' | 'dataWindowMs' | 'minDataBytesPerSecond'>;

/**
 * How long a message may take between 354 and the final dot: a total, and within it a least rate in every
 * window. The idle timeout alone is renewed by each byte, so one byte now and then would hold a session
 * for the total. Windows follow one another; the first is the grace of a slow start.
 */
export class DataClock {
  readonly #limits: DataLimits;
  readonly #startedAtMs: number;
  #windowAtMs: number;
  #windowBytes = 0;

  constructor(limits: DataLimits, nowMs: number) {
    this.#limits = limits;
    this.#startedAtMs = nowMs;
    this.#windowAtMs = nowMs;
  }

  /** The client has waited for us, which is not its slowness: a new window begins. */
  resume(nowMs: number, bytes: number): void {
    this.#windowAtMs = nowMs;
    this.#windowBytes = bytes;
  }

  /** The refusal for a message that takes too long, or null. `bytes` of it have come so far. */
  overdue(nowMs: number, bytes: number): { readonly reply: Reply; readonly reason: RefusalReason } | null {
    const { dataTimeoutMs, dataWindowMs, minDataBytesPerSecond } = this.#limits;
    if (nowMs - this.#startedAtMs >= dataTimeoutMs) return { reply: replies.dataTimeout, reason: 'timeout' };
    const elapsedMs = nowMs - this.#windowAtMs;
    if (elapsedMs < dataWindowMs) return null;
    const wantedBytes = (minDataBytesPerSecond * elapsedMs) / 1000;
    if (bytes - this.#windowBytes < wantedBytes) return { reply: replies.tooSlow, reason: 'too_slow' };
    this.resume(nowMs, bytes);
    return null;
  }
}
