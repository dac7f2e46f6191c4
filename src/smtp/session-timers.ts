import type net from 'node:net';
import type { RefusalReason, SmtpListenerOptions } from './options.js';
import { replies, type SmtpReply } from './replies.js';

/** As far apart as two ticks may be for the time between them to count. */
const MAX_TICK_MS = 1500;

/**
 * The clock of a listener, in milliseconds. It stands still while our process is busy (with TLS handshakes, for one) or
 * stopped: no client is to pay for bytes that have arrived and that we did not read. `tick` must be called at least once
 * in `MAX_TICK_MS`; when it is called late, the rest is not counted.
 */
export class ListenerClock {
  #countedMs = 0;
  #tickAtMs: number;

  /** @param realMs a monotonic clock, as in the other methods */
  constructor(realMs = performance.now()) {
    this.#tickAtMs = realMs;
  }

  nowMs(realMs = performance.now()): number {
    return this.#countedMs + Math.min(realMs - this.#tickAtMs, MAX_TICK_MS);
  }

  tick(realMs = performance.now()): void {
    this.#countedMs = this.nowMs(realMs);
    this.#tickAtMs = realMs;
  }
}

/** The time of a session. It stands still while the client waits for us. All times are those of the `ListenerClock`. */
export class ClientTime {
  #oursMs = 0;
  #stoppedAtMs: number | null = null;

  at(nowMs: number): number {
    return (this.#stoppedAtMs ?? nowMs) - this.#oursMs;
  }

  stop(nowMs: number): void {
    this.#stoppedAtMs ??= nowMs;
  }

  goOn(nowMs: number): void {
    if (this.#stoppedAtMs !== null) this.#oursMs += nowMs - this.#stoppedAtMs;
    this.#stoppedAtMs = null;
  }
}

type DataLimits = Pick<SmtpListenerOptions, 'dataTimeoutMs' | 'dataWindowMs' | 'minDataBytesPerSecond'>;

interface Overdue {
  readonly reply: SmtpReply;
  readonly reason: RefusalReason;
}

/**
 * Limits how long a message may take from 354 to the final dot: in total, and by a minimum rate in each window. The
 * idle timeout is not enough, because every byte renews it. Windows follow one another without a gap. The rate is
 * checked at the end of a window, so the first one allows for a slow start. Times are those of a `ClientTime`.
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

  /** The refusal if the message takes too long, or null. `bytes` of it have come so far. */
  overdue(nowMs: number, bytes: number): Overdue | null {
    const { dataTimeoutMs, dataWindowMs, minDataBytesPerSecond } = this.#limits;
    if (nowMs - this.#startedAtMs >= dataTimeoutMs) return { reply: replies.dataTimeout, reason: 'timeout' };
    const elapsedMs = nowMs - this.#windowAtMs;
    if (elapsedMs < dataWindowMs) return null;
    const wantedBytes = (minDataBytesPerSecond * elapsedMs) / 1000;
    if (bytes - this.#windowBytes < wantedBytes) return { reply: replies.tooSlow, reason: 'too_slow' };
    this.#windowAtMs = nowMs;
    this.#windowBytes = bytes;
    return null;
  }
}

type PaceLimits = Pick<SmtpListenerOptions, 'keepPlaceMs' | 'keepPlaceInDataMs' | 'keepPlaceBytesPerSecond'>;

/** What an accepted message earns besides its bytes: a session that has a small one now and then is not slow. */
const MESSAGE_EARNS_MS = 20_000;
/** Of arrears from before a message, no more than this is held against it. */
const CARRIED_OVER_MS = 20_000;

/**
 * Whether a session earns its place, by which `connection-limits.ts` chooses. Each byte of a message earns some time, an
 * accepted message some more. A session is slow since it last had earned all the time that it took; what it has earned
 * beyond that is not kept for later. Commands earn nothing. Times are those of a `ClientTime`.
 */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #msPerByte: number;
  #sinceMs: number;
  #earnedMs = 0;

  constructor(limits: PaceLimits, nowMs: number) {
    this.#limits = limits;
    this.#msPerByte = 1000 / limits.keepPlaceBytesPerSecond;
    this.#sinceMs = nowMs;
  }

  /** `bytes` of a message have come. */
  earn(bytes: number): void {
    this.#earnedMs += bytes * this.#msPerByte;
  }

  beginMessage(nowMs: number): void {
    if (this.#settle(nowMs)) return;
    const arrearsMs = nowMs - this.#sinceMs - this.#earnedMs;
    this.#sinceMs = nowMs - Math.min(arrearsMs, CARRIED_OVER_MS);
    this.#earnedMs = 0;
  }

  messageAccepted(nowMs: number): void {
    this.#earnedMs += MESSAGE_EARNS_MS;
    this.#settle(nowMs);
  }

  /**
   * The time, in milliseconds, that this session has taken and not earned; 0 while it may keep its place. To be asked
   * every few seconds, whether the answer is needed or not: a session can have been fast only between two times.
   */
  arrearsMs(nowMs: number, isInData: boolean): number {
    if (this.#settle(nowMs)) return 0;
    const { keepPlaceMs, keepPlaceInDataMs } = this.#limits;
    const slowForMs = nowMs - this.#sinceMs;
    return slowForMs < (isInData ? keepPlaceInDataMs : keepPlaceMs) ? 0 : slowForMs - this.#earnedMs;
  }

  #settle(nowMs: number): boolean {
    if (this.#earnedMs < nowMs - this.#sinceMs) return false;
    this.#sinceMs = nowMs;
    this.#earnedMs = 0;
    return true;
  }
}

/** How long a session takes: its `ClientTime`, the `DataClock` of its message, its `Pace`. */
export class SessionTime {
  readonly #limits: DataLimits & PaceLimits;
  readonly #clock: ListenerClock;
  readonly #time = new ClientTime();
  readonly #pace: Pace;
  #dataClock: DataClock | null = null;

  constructor(limits: DataLimits & PaceLimits, clock: ListenerClock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#pace = new Pace(limits, this.#nowMs());
  }

  beginMessage(): void {
    const nowMs = this.#nowMs();
    this.#dataClock = new DataClock(this.#limits, nowMs);
    this.#pace.beginMessage(nowMs);
  }

  /** `bytes` of the message have come. */
  earn(bytes: number): void {
    this.#pace.earn(bytes);
  }

  messageAccepted(): void {
    this.#pace.messageAccepted(this.#nowMs());
  }

  /** As `DataClock.overdue`, for the message that is being received. */
  overdue(bytes: number): Overdue | null {
    return this.#dataClock?.overdue(this.#nowMs(), bytes) ?? null;
  }

  /** As `Pace.arrearsMs`. */
  arrearsMs(isInData: boolean): number {
    return this.#pace.arrearsMs(this.#nowMs(), isInData);
  }

  /** From now on the client waits for us, until `goOn`. */
  stop(): void {
    this.#time.stop(this.#clock.nowMs());
  }

  goOn(): void {
    this.#time.goOn(this.#clock.nowMs());
  }

  #nowMs(): number {
    return this.#time.at(this.#clock.nowMs());
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
