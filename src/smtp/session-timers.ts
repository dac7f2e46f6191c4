import type net from 'node:net';
import type { RefusalReason, SmtpListenerOptions } from './options.js';
import { type Reply, replies } from './replies.js';

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

type GuessLimits = Pick<SmtpListenerOptions, 'maxUnknownRecipients' | 'unknownRecipientDelayMs'>;

/** Unknown recipients that are answered without delay: a typing error, an address that has gone stale. */
const PROMPT = 2;

/**
 * Makes guessing addresses slow and soon over, in one session. The client has to wait for each late
 * reply, because nothing behind it is read before.
 */
export class GuessBrake {
  readonly #limits: GuessLimits;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: GuessLimits) {
    this.#limits = limits;
  }

  /** One more unknown recipient: calls `answer`, at once or later, unless it is one too many. */
  allows(answer: () => void): boolean {
    const { maxUnknownRecipients, unknownRecipientDelayMs } = this.#limits;
    this.#count += 1;
    if (this.#count > maxUnknownRecipients) return false;
    if (this.#count <= PROMPT || unknownRecipientDelayMs === 0) answer();
    else this.#timer = setTimeout(answer, unknownRecipientDelayMs);
    return true;
  }

  /** The session is over: nothing is called any more. */
  release(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * A client that is told off in the middle of sending has to find the reply: closing with its bytes unread
 * would reset the connection and may take the reply along. So after our FIN we read this much more at
 * most, and hang up for good after this time, whether the client has left or not.
 */
const LINGER_BYTES = 512 * 1024;
const LINGER_MS = 2000;

/** Bounds what a socket whose writing side has ended may still cost. Clear the timer when it has closed. */
export function limitLinger(socket: net.Socket): NodeJS.Timeout {
  let left = LINGER_BYTES;
  socket.on('data', (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.pause();
  });
  return setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
