import type { ClientNetworks } from '../domain/addresses.js';
import type { SmtpListenerOptions } from './options.js';
import type { ListenerClock } from './session-timers.js';

/*
 * Guessing addresses is slow.
 *
 * Whoever may ask for any recipient can find out which addresses there are. The reply to an unknown one says so at once
 * where it may be a typing error or a stale address, and late where the client's network asks for many: each network has
 * a count of unknown recipients, which goes down with time and with each message that is accepted. So a big provider
 * that delivers much and has some stale addresses is not slowed, and a new connection buys no new guesses.
 *
 * Known recipients are never delayed or refused for it. A client could therefore take silence for a no, hang up and ask
 * the next one: so a guess takes up its connection until the answer is due, whether the client waits for it or not.
 */

/** So many unknown recipients of a session are answered without delay: a typing error, or a stale address. */
const PROMPT_IN_SESSION = 2;
/** The count of a network up to which it is answered without delay. */
const PROMPT = 20;
/** Each one beyond delays by one more `unknownRecipientDelayMs`; no answer more than this many times. */
const MAX_DELAYS = 30;
/** A network is not counted further: it is forgiven ten minutes after its last guess. */
const MAX_COUNT = 100;
/** One is forgiven in this time. */
const FORGIVE_MS = 6000;
/** An accepted message pays for one, but not more often than this: who knows one address must not buy all others. */
const PAY_EVERY_MS = 1000;
/** Paid in advance. */
const MAX_CREDIT = 100;
/** What an unknown recipient counts for its site (an IPv4 /24, an IPv6 /48), which may have many clients. */
const SITE_WEIGHT = 1 / 16;

interface Count {
  /** Below 0: credit. */
  value: number;
  atMs: number;
  paidAtMs: number;
}

/** Unknown recipients of all networks, and how late they are answered. Times are those of the `ListenerClock`. */
export class GuessBrake {
  readonly #stepMs: number;
  readonly #counts: NetworkCounts;

  /** @param stepMs `unknownRecipientDelayMs` */
  constructor(stepMs: number, maxNetworks = 10_000) {
    this.#stepMs = stepMs;
    this.#counts = new NetworkCounts(maxNetworks);
  }

  /** Counts an unknown recipient. Returns the time in milliseconds by which its answer is to be delayed. */
  unknown({ host, site }: ClientNetworks, nowMs: number): number {
    let value = this.#raise(host, 1, nowMs);
    if (site !== host) value = Math.max(value, this.#raise(site, SITE_WEIGHT, nowMs));
    return this.#stepMs * Math.min(Math.max(Math.ceil(value - PROMPT), 0), MAX_DELAYS);
  }

  /** A message of this client has been accepted. */
  accepted({ host, site }: ClientNetworks, nowMs: number): void {
    this.#pay(host, 1, nowMs);
    if (site !== host) this.#pay(site, SITE_WEIGHT, nowMs);
  }

  #raise(network: string, weight: number, nowMs: number): number {
    const count = this.#counts.at(network, nowMs);
    count.value = Math.min(count.value + weight, MAX_COUNT);
    return count.value;
  }

  #pay(network: string, weight: number, nowMs: number): void {
    const count = this.#counts.at(network, nowMs);
    const paid = Math.min(weight, (nowMs - count.paidAtMs) / PAY_EVERY_MS);
    count.value = Math.max(count.value - paid, -MAX_CREDIT);
    count.paidAtMs = nowMs;
  }
}

/** Of so many networks the one that matters least is dropped when the table is full. */
const LOOK_AT = 8;

/**
 * A table of networks with a limit on its size. A flood of new networks does not flush it: of the oldest few, the one
 * whose count is nearest to 0 makes room, and a network of the flood has a count of 1.
 */
class NetworkCounts {
  readonly #maxNetworks: number;
  /** The longest not looked at come first. */
  readonly #counts = new Map<string, Count>();

  constructor(maxNetworks: number) {
    this.#maxNetworks = maxNetworks;
  }

  at(network: string, nowMs: number): Count {
    let count = this.#counts.get(network);
    if (count !== undefined) {
      settle(count, nowMs);
      return count;
    }
    if (this.#counts.size >= this.#maxNetworks) this.#dropOne(nowMs);
    count = { value: 0, atMs: nowMs, paidAtMs: nowMs - PAY_EVERY_MS };
    this.#counts.set(network, count);
    return count;
  }

  #dropOne(nowMs: number): void {
    let least: { readonly network: string; readonly count: Count } | null = null;
    let left = Math.min(LOOK_AT, this.#counts.size);
    for (const [network, count] of this.#counts) {
      settle(count, nowMs);
      this.#counts.delete(network);
      if (least === null) least = { network, count };
      else if (Math.abs(count.value) < Math.abs(least.count.value)) {
        this.#counts.set(least.network, least.count);
        least = { network, count };
      } else this.#counts.set(network, count);
      left -= 1;
      if (left === 0) return;
    }
  }
}

/** Forgives what time has forgiven; credit goes in the same way. */
function settle(count: Count, nowMs: number): void {
  const forgiven = (nowMs - count.atMs) / FORGIVE_MS;
  count.value = count.value > 0 ? Math.max(count.value - forgiven, 0) : Math.min(count.value + forgiven, 0);
  count.atMs = nowMs;
}

type TarpitLimits = Pick<SmtpListenerOptions, 'maxUnknownRecipients' | 'unknownRecipientDelayMs'>;

/** What the tarpits of all sessions of a listener share. */
export interface TarpitShared {
  readonly options: TarpitLimits;
  readonly clock: ListenerClock;
  readonly brake: GuessBrake;
}

/**
 * Slows down a session that guesses addresses, and ends it soon. The client has to wait for each delayed reply, because
 * no further command is read before it is sent: there is one such reply to a session at a time.
 */
export class Tarpit {
  readonly #shared: TarpitShared;
  readonly #client: ClientNetworks;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs: number | null = null;

  constructor(shared: TarpitShared, client: ClientNetworks) {
    this.#shared = shared;
    this.#client = client;
  }

  /** When the delayed answer is or was due that has not been given; null without one. */
  get dueAtMs(): number | null {
    return this.#dueAtMs;
  }

  /** Counts an unknown recipient. Calls `answer`, at once or delayed; returns false instead if it is one too many. */
  allows(answer: () => void): boolean {
    const { options, clock, brake } = this.#shared;
    const nowMs = clock.nowMs();
    this.#count += 1;
    const networkDelayMs = brake.unknown(this.#client, nowMs);
    if (this.#count > options.maxUnknownRecipients) return false;
    const sessionDelayMs = this.#count <= PROMPT_IN_SESSION ? 0 : options.unknownRecipientDelayMs;
    const delayMs = Math.max(sessionDelayMs, networkDelayMs);
    if (delayMs === 0) {
      answer();
      return true;
    }
    this.#dueAtMs = nowMs + delayMs;
    this.#timer = setTimeout(() => {
      this.#dueAtMs = null;
      answer();
    }, delayMs);
    return true;
  }

  /** The session is over: no delayed answer is called any more. */
  release(): void {
    clearTimeout(this.#timer);
  }
}

/** As many are remembered, of all networks together. */
const MAX_WALKED_OUT = 20_000;

/**
 * Sessions that ended while an answer was due. Until then they count as connections of their networks, as if the client
 * had waited.
 */
export class WalkedOut {
  /** Network -> when the answers are due; the networks that came first are forgotten first. */
  readonly #dueAtMs = new Map<string, number[]>();
  #size = 0;

  of(network: string, nowMs: number): number {
    const all = this.#dueAtMs.get(network);
    if (all === undefined) return 0;
    const left = all.filter(dueAtMs => dueAtMs > nowMs);
    this.#size -= all.length - left.length;
    if (left.length === 0) this.#dueAtMs.delete(network);
    else this.#dueAtMs.set(network, left);
    return left.length;
  }

  add(network: string, dueAtMs: number): void {
    const all = this.#dueAtMs.get(network) ?? [];
    all.push(dueAtMs);
    this.#dueAtMs.set(network, all);
    this.#size += 1;
    if (this.#size > MAX_WALKED_OUT) this.#forgetFirst();
  }

  #forgetFirst(): void {
    for (const [network, all] of this.#dueAtMs) {
      this.#dueAtMs.delete(network);
      this.#size -= all.length;
      return;
    }
  }
}
