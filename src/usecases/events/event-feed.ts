import type { AccountId, EventId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import { eventIdAt, getFeed, type StoredEvent, scanEvents } from '../../store/records/events.js';

export type { StoredEvent } from '../../store/records/events.js';

/** A place in the feed of an account: after the event of this sequence, 0 at the beginning. */
export interface FeedPlace {
  readonly sequence: number;
  /** The event at the place, which tells this feed from one that a restored backup has undone. */
  readonly id: EventId | null;
}

export interface FeedSlice {
  /** In the order of their sequence, without gaps. */
  readonly events: readonly StoredEvent[];
  /**
   * Sequence of the oldest event that is kept; one more than the last where none is. After a place before `first - 1`
   * some events are missing: they were kept for their time and are gone.
   */
  readonly first: number;
  /** Sequence of the newest event; 0 when there was none yet. */
  readonly last: number;
}

/** How often commits of other processes are looked for: those of this one are heard of at once. */
const LOOK_MS = 500;

/**
 * The feeds of all accounts, to be read from any place and to be heard of. The events are in the store, so whoever keeps
 * the sequence it has come to misses none, however often and for how long it is away.
 *
 * To follow a feed, subscribe first (`onCommitted`), then read (`listAfter`), then read again whenever called.
 */
export class EventFeed {
  readonly #store: Store;
  readonly #listeners = new Map<AccountId, Set<() => void>>();
  /** Newest sequence that listeners of an account have been called for. */
  readonly #told = new Map<AccountId, number>();
  /** Accounts whose listeners are to be called. */
  readonly #due = new Set<AccountId>();
  /** What was read in this event turn: many ask for the same at once. */
  readonly #read = new Map<string, FeedSlice>();
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | null = null;
  #isWaking = false;

  constructor({ store }: { readonly store: Store }) {
    this.#store = store;
    this.#unsubscribe = store.onCommitted(topics => {
      for (const topic of topics) this.#wake(topic as AccountId);
    });
  }

  /**
   * Events of an account after a sequence, oldest first.
   * @param sequence that of the last event that is known; 0 for the oldest that is kept
   * @param limit at most so many; each is some hundred bytes
   */
  listAfter(accountId: AccountId, sequence: number, limit: number): FeedSlice {
    const key = `${accountId} ${sequence} ${limit}`;
    const known = this.#read.get(key);
    if (known !== undefined) return known;
    const slice = this.#store.read(reader => {
      const { first, next } = getFeed(reader, accountId);
      const events = sequence + 1 < next ? scanEvents(reader, accountId, sequence, limit) : [];
      return { events, first, last: next - 1 };
    });
    if (this.#read.size === 0) setImmediate(() => this.#read.clear());
    this.#read.set(key, slice);
    return slice;
  }

  /** The place after the newest event of an account. */
  end(accountId: AccountId): FeedPlace {
    return this.#store.read(reader => {
      const sequence = getFeed(reader, accountId).next - 1;
      return { sequence, id: eventIdAt(reader, accountId, sequence) ?? null };
    });
  }

  /** The place before the oldest event that is kept. */
  beginning(accountId: AccountId): FeedPlace {
    return this.#store.read(reader => {
      const { first, before } = getFeed(reader, accountId);
      return { sequence: first - 1, id: before };
    });
  }

  /**
   * Calls `callback` soon after events of the account were committed: in a later event turn, once for several of them,
   * and at times for none. Commits of other processes are heard of within half a second. It must not throw.
   * @returns ends that
   */
  onCommitted(accountId: AccountId, callback: () => void): () => void {
    const known = this.#listeners.get(accountId);
    const listeners = known ?? new Set();
    if (known === undefined) {
      this.#listeners.set(accountId, listeners);
      this.#told.set(accountId, this.#lastOf(accountId));
    }
    listeners.add(callback);
    this.#timer ??= setInterval(() => this.#lookForOthers(), LOOK_MS).unref();
    return () => {
      listeners.delete(callback);
      if (listeners.size > 0 || this.#listeners.get(accountId) !== listeners) return;
      this.#listeners.delete(accountId);
      this.#told.delete(accountId);
      if (this.#listeners.size === 0) this.#stopLooking();
    };
  }

  /** Nobody is called any more. */
  stop(): void {
    this.#unsubscribe();
    this.#listeners.clear();
    this.#told.clear();
    this.#stopLooking();
  }

  #stopLooking(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #lastOf(accountId: AccountId): number {
    return this.#store.read(reader => getFeed(reader, accountId).next - 1);
  }

  #lookForOthers(): void {
    for (const [accountId, told] of this.#told) if (this.#lastOf(accountId) !== told) this.#wake(accountId);
  }

  #wake(accountId: AccountId): void {
    if (!this.#listeners.has(accountId)) return;
    this.#due.add(accountId);
    if (this.#isWaking) return;
    this.#isWaking = true;
    setImmediate(() => this.#wakeNext());
  }

  /** One account a turn: its listeners may be a hundred, and other work goes on in between. */
  #wakeNext(): void {
    const [accountId] = this.#due;
    if (accountId === undefined) {
      this.#isWaking = false;
      return;
    }
    this.#due.delete(accountId);
    setImmediate(() => this.#wakeNext());
    const listeners = this.#listeners.get(accountId);
    if (listeners === undefined) return;
    this.#told.set(accountId, this.#lastOf(accountId));
    for (const callback of [...listeners]) callback();
  }
}
