import type net from 'node:net';
import type { RefusalReason, SmtpListenerOptions } from './options.js';
import { replies, type SmtpReply } from './replies.js';

type DataLimits = Pick<SmtpListenerOptions, 'dataTimeoutMs' | 'dataWindowMs' | 'minDataBytesPerSecond'>;

/**
 * Limits how long a message may take from 354 to the final dot: in total, and by a minimum rate in each window. The
 * idle timeout is not enough, because every byte renews it. Windows follow one another without a gap. The rate is
 * checked at the end of a window, so the first one allows for a slow start.
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

  /** Begins a new window, after the client has had to wait for us. `bytes` of the message have come so far. */
  resume(nowMs: number, bytes: number): void {
    this.#windowAtMs = nowMs;
    this.#windowBytes = bytes;
  }

  /** The refusal if the message takes too long, or null. `bytes` of it have come so far. */
  overdue(
    nowMs: number,
    bytes: number,
  ): { readonly reply: SmtpReply; readonly reason: RefusalReason } | null {
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

type TarpitLimits = Pick<SmtpListenerOptions, 'maxUnknownRecipients' | 'unknownRecipientDelayMs'>;

/** So many unknown recipients are answered without delay: a typing error, or a stale address. */
const PROMPT = 2;

/**
 * Slows down a session that guesses addresses, and ends it soon. The client has to wait for each delayed reply, because
 * no further command is read before it is sent.
 */
export class Tarpit {
  readonly #limits: TarpitLimits;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: TarpitLimits) {
    this.#limits = limits;
  }

  /** Counts an unknown recipient. Calls `answer`, at once or delayed; returns false instead if it is one too many. */
  allows(answer: () => void): boolean {
    const { maxUnknownRecipients, unknownRecipientDelayMs } = this.#limits;
    this.#count += 1;
    if (this.#count > maxUnknownRecipients) return false;
    if (this.#count <= PROMPT || unknownRecipientDelayMs === 0) answer();
    else this.#timer = setTimeout(answer, unknownRecipientDelayMs);
    return true;
  }

  /** The session is over: no delayed answer is called any more. */
  release(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * A client that is refused while it is sending must be able to read the reply. Closing with unread bytes would reset
 * the connection, and the reply might be lost. So after our FIN we read up to this many bytes, and close for good after
 * this time, whether the client has closed or not.
 */
const LINGER_BYTES = 512 * 1024;
const LINGER_MS = 2000;

/** Limits bytes and time of a socket whose writing side has ended. Returns the timer, to be cleared on close. */
export function limitLinger(socket: net.Socket): NodeJS.Timeout {
  let left = LINGER_BYTES;
  socket.on('data', (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.pause();
  });
  return setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
