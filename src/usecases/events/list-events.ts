import { EVENT_TYPES, type EventType } from '../../contract/events.js';
import { refuse } from '../../domain/errors.js';
import type { AccountId, InboxId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import { locateInbox } from '../shared/callers.js';
import type { EventFeed, FeedPlace } from './event-feed.js';
import { readPlace } from './event-places.js';
import type { EventViews } from './event-views.js';
import { type Look, lookFrom, type Picked, type Wanted } from './look.js';
import type { Waiters, WaitingClient } from './waiters.js';

export interface EventDeps {
  readonly store: Store;
  readonly feed: EventFeed;
  readonly views: EventViews;
  readonly waiters: Waiters;
}

/** Which events of an account are meant. */
export interface EventFilter {
  readonly accountId: AccountId;
  /** Of one of these types; of any when there are none. */
  readonly types: readonly string[];
  /** About this inbox. */
  readonly inboxId: string | null;
}

export interface ListEventsInput extends EventFilter {
  /** A cursor, `now`, or null for the oldest event that is kept. */
  readonly after: string | null;
  /** 1 to 100. */
  readonly limit: number;
  /** How long to wait when there is none. */
  readonly waitMs: number;
}

/** A page of events (`listEvents`), each as JSON, and the place after it. */
export type EventLook = Omit<Look, 'isAtEnd'>;

/**
 * Events after a place, or the first ones that come within a time. Where few events fit a filter, the page may be empty
 * and the place has moved on.
 * @throws `invalid_cursor`, `cursor_expired`, `invalid_search`, `not_found` (inbox), `rate_limited` (too many wait),
 *   `unauthorized` (the key was revoked meanwhile)
 */
export function listEvents(
  deps: EventDeps,
  input: ListEventsInput,
  client: WaitingClient,
): Promise<EventLook> {
  const wanted = wantedOf(deps, input);
  return waitFor(deps, wanted, { from: readPlace(deps, input.accountId, input.after), ...input }, client);
}

/** Candidates that are narrowed together, and how often before the place moves on with nothing found. */
const NARROWED = 100;
const MAX_NARROWINGS = 20;

async function lookClosely(deps: EventDeps, wanted: Wanted, from: FeedPlace, limit: number): Promise<Look> {
  const { narrow } = wanted;
  if (narrow === undefined) return lookFrom(deps, wanted, from, limit);
  let look: Look = { picked: [], place: from, isAtEnd: false };
  for (let times = 0; times < MAX_NARROWINGS && !look.isAtEnd; times += 1) {
    look = await lookFrom(deps, wanted, look.place, NARROWED);
    if (look.picked.length === 0) continue;
    const meant = await narrow(look.picked);
    const picked = meant.slice(0, limit);
    const last = picked.at(-1);
    // What comes after the last one that is given is looked at next time.
    if (last !== undefined && meant.length >= limit) {
      return { picked, place: { sequence: last.event.sequence, id: last.event.id }, isAtEnd: false };
    }
    if (last !== undefined) return { ...look, picked };
    look = { ...look, picked };
  }
  return look;
}

/**
 * Looks, and where nothing fits, waits and looks again.
 * @returns what was found first; nothing when the time is over, or the service stops
 */
export async function waitFor(
  deps: EventDeps,
  wanted: Wanted,
  { from, limit, waitMs }: { readonly from: FeedPlace; readonly limit: number; readonly waitMs: number },
  client: WaitingClient,
): Promise<EventLook> {
  const endMs = performance.now() + waitMs;
  const isDone = ({ picked, isAtEnd }: Look): boolean => picked.length > 0 || !isAtEnd;
  let look = await lookClosely(deps, wanted, from, limit);
  if (isDone(look) || waitMs <= 0) return look;
  const waiter = deps.waiters.enter(wanted.accountId, client);
  try {
    for (;;) {
      look = await lookClosely(deps, wanted, look.place, limit);
      if (isDone(look)) return look;
      const outcome = await waiter.next(endMs - performance.now());
      if (outcome === 'revoked') throw revoked();
      if (outcome !== 'events') return look;
    }
  } finally {
    waiter.leave();
  }
}

function revoked(): Error {
  return refuse('unauthorized', 'The key was revoked while the request waited.');
}

/** How often a stream tells its place while nothing comes. */
const HEARTBEAT_MS = 15_000;
/** A stream reads so many events, and about so many bytes, at a time: more are not in memory for a slow reader. */
const STREAM_STEP = { limit: 100, bytes: 64 * 1024 } as const;

export type FollowInput = Omit<ListEventsInput, 'limit' | 'waitMs'>;

/** Part of a stream: events, or none for a heartbeat, and the place after them. */
export interface StreamPart {
  readonly picked: readonly Picked[];
  readonly place: FeedPlace;
}

/**
 * The events after a place, then those that come, for as long as the client and its key are there and the service runs.
 * The first part has none and tells the place. Whoever takes the next part only when the last one has left needs no
 * more memory than that: what comes meanwhile is in the store.
 * @throws at once as `listEvents` does; later `cursor_expired`, when a reader is so slow that events before its place
 *   are gone
 */
export function followEvents(
  deps: EventDeps,
  input: FollowInput,
  client: WaitingClient,
): AsyncGenerator<StreamPart, void> {
  const wanted = wantedOf(deps, input);
  const from = readPlace(deps, input.accountId, input.after);
  return follow(deps, wanted, from, deps.waiters.enter(input.accountId, client));
}

async function* follow(
  deps: EventDeps,
  wanted: Wanted,
  from: FeedPlace,
  waiter: ReturnType<Waiters['enter']>,
): AsyncGenerator<StreamPart, void> {
  let place = from;
  let beatMs = performance.now() + HEARTBEAT_MS;
  try {
    yield { picked: [], place };
    for (;;) {
      const look = await lookFrom(deps, wanted, place, STREAM_STEP.limit, STREAM_STEP.bytes);
      place = look.place;
      const isBeat = performance.now() >= beatMs;
      if (look.picked.length > 0 || isBeat) {
        beatMs = performance.now() + HEARTBEAT_MS;
        yield { picked: look.picked, place };
      }
      const outcome = await waiter.next(look.isAtEnd ? beatMs - performance.now() : 0);
      if (outcome !== 'events' && outcome !== 'time') return;
    }
  } finally {
    waiter.leave();
  }
}

function wantedOf({ store, views }: EventDeps, { accountId, types, inboxId }: EventFilter): Wanted {
  for (const type of types) {
    if ((EVENT_TYPES as readonly string[]).includes(type)) continue;
    throw refuse('invalid_search', `types must be among ${EVENT_TYPES.join(', ')}.`);
  }
  const ofTypes = types.length === 0 ? null : new Set(types as readonly EventType[]);
  const ofInbox: InboxId | null =
    inboxId === null ? null : store.read(reader => locateInbox(reader, { accountId }, inboxId).id);
  return {
    accountId,
    pick: reader => event => {
      if (ofTypes !== null && !ofTypes.has(event.type)) return null;
      return ofInbox !== null && event.inboxId !== ofInbox ? null : views.view(reader, accountId, event);
    },
  };
}
