import { Refusal } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import { accessVersion } from '../../store/engine/writer.js';
import type { EventFeed } from './event-feed.js';

/** Whoever asked, as long as the answer is held back. */
export interface WaitingClient {
  /** Is its key still good? Asked again when anything has changed that decides about access. */
  readonly isAllowed: () => boolean;
  /** It has disconnected. */
  readonly gone: AbortSignal;
}

/** Why a wait is over: events were committed, time is up, its key was revoked, the client is gone, or we are. */
export type WaitOutcome = 'events' | 'time' | 'revoked' | 'gone' | 'stopping';

export interface WaiterLimits {
  /** Waits at a time, of all accounts: each holds a connection. */
  readonly max: number;
  /** The same of one account. */
  readonly maxOfAccount?: number;
}

const MAX_OF_ACCOUNT = 100;
/** How soon a key that was revoked, in this process or another, ends its waits. */
const LOOK_MS = 500;
/** When whoever found no place may come again, in seconds. */
const RETRY_AFTER_S = 5;

/** Those who wait for events: woken by commits, within bounds, and gone with their keys. */
export class Waiters {
  readonly #store: Store;
  readonly #feed: EventFeed;
  readonly #limits: Required<WaiterLimits>;
  readonly #ofAccount = new Map<AccountId, Set<Waiter>>();
  #count = 0;
  #isStopping = false;
  #version = -1;
  #timer: NodeJS.Timeout | null = null;

  constructor({ store, feed }: { readonly store: Store; readonly feed: EventFeed }, limits: WaiterLimits) {
    this.#store = store;
    this.#feed = feed;
    this.#limits = { maxOfAccount: MAX_OF_ACCOUNT, ...limits };
  }

  /** How many wait. */
  get count(): number {
    return this.#count;
  }

  /**
   * Begins a wait of an account; `leave` ends it. From now on no event is missed: look at the feed, then wait.
   * @throws `rate_limited` when too many wait
   */
  enter(accountId: AccountId, client: WaitingClient): Waiter {
    const ofAccount = this.#ofAccount.get(accountId) ?? new Set();
    if (ofAccount.size >= this.#limits.maxOfAccount) {
      throw tooMany(`${this.#limits.maxOfAccount} requests of this account wait for events already`);
    }
    if (this.#count >= this.#limits.max) throw tooMany('too many clients wait for events at the moment');
    const waiter: Waiter = new Waiter(client, () => this.#leave(accountId, waiter, unsubscribe));
    const unsubscribe = this.#feed.onCommitted(accountId, () => waiter.end('events'));
    ofAccount.add(waiter);
    this.#ofAccount.set(accountId, ofAccount);
    this.#count++;
    if (this.#isStopping) waiter.end('stopping');
    else this.#timer ??= setInterval(() => this.#endRevoked(), LOOK_MS).unref();
    return waiter;
  }

  /** Ends every wait, those that begin later too: the process is on its way out. */
  stop(): void {
    this.#isStopping = true;
    for (const waiter of this.#all()) waiter.end('stopping');
    this.#stopLooking();
  }

  *#all(): Generator<Waiter> {
    for (const ofAccount of this.#ofAccount.values()) yield* ofAccount;
  }

  #leave(accountId: AccountId, waiter: Waiter, unsubscribe: () => void): void {
    const ofAccount = this.#ofAccount.get(accountId);
    if (ofAccount?.delete(waiter) !== true) return;
    unsubscribe();
    this.#count--;
    if (ofAccount.size === 0) this.#ofAccount.delete(accountId);
    if (this.#count === 0) this.#stopLooking();
  }

  #stopLooking(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #endRevoked(): void {
    const version = this.#store.read(accessVersion);
    if (version === this.#version) return;
    this.#version = version;
    for (const waiter of this.#all()) if (!waiter.isAllowed()) waiter.end('revoked');
  }
}

function tooMany(what: string): Refusal {
  return new Refusal({
    code: 'rate_limited',
    message: `Nothing was waited for: ${what}. End one of them, or ask again without wait.`,
    retryAfterS: RETRY_AFTER_S,
  });
}

/** One wait. */
export class Waiter {
  readonly #client: WaitingClient;
  readonly #onLeft: () => void;
  readonly #onGone = (): void => this.end('gone');
  /** There are events that were not waited for yet. */
  #hasEvents = false;
  /** Once it is over for any other reason it stays so. */
  #end: Exclude<WaitOutcome, 'events' | 'time'> | null = null;
  #resolve: ((outcome: WaitOutcome) => void) | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(client: WaitingClient, onLeft: () => void) {
    this.#client = client;
    this.#onLeft = onLeft;
    if (client.gone.aborted) this.#end = 'gone';
    client.gone.addEventListener('abort', this.#onGone, { once: true });
  }

  isAllowed(): boolean {
    return this.#client.isAllowed();
  }

  /**
   * Waits until events may have come since the last time, or something else has ended the wait; `timeMs` at most.
   * Not to be called again before it has resolved.
   */
  next(timeMs: number): Promise<WaitOutcome> {
    if (this.#end !== null) return Promise.resolve(this.#end);
    if (this.#hasEvents) {
      this.#hasEvents = false;
      return Promise.resolve('events');
    }
    if (timeMs <= 0) return Promise.resolve('time');
    return new Promise(resolve => {
      this.#resolve = resolve;
      this.#timer = setTimeout(() => this.#settle('time'), timeMs);
    });
  }

  /** Ends what is waited for now; for any reason but events, also what would be waited for later. */
  end(outcome: Exclude<WaitOutcome, 'time'>): void {
    if (outcome !== 'events') this.#end ??= outcome;
    else if (this.#resolve === null) this.#hasEvents = true;
    this.#settle(outcome);
    // Its place is for others; nobody may come for what it still has.
    if (outcome === 'gone') this.leave();
  }

  leave(): void {
    this.#client.gone.removeEventListener('abort', this.#onGone);
    this.#settle('gone');
    this.#onLeft();
  }

  #settle(outcome: WaitOutcome): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve?.(outcome);
  }
}
