import type { EventType } from '../../contract/events.js';
import {
  type AccountId,
  type DeliveryId,
  type EventId,
  type InboxId,
  idToBytes,
  type MessageId,
  newId,
  type ThreadId,
} from '../../domain/ids.js';
import { DAY_MS, HOUR_MS } from '../../domain/instants.js';
import { joinKey, range, u48 } from '../engine/keys.js';
import { asItIs, jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import type { MessageKind } from '../mailbox/folders.js';
import { addPending } from './pending.js';
import { ownerOf } from './storage.js';

/*
 * The feed of each account: what has happened in it, in the order of the commits. An event is written in the commit that
 * makes it true, so a feed never tells of what is not there and never leaves anything out. It names what it is about by
 * ids only: what they stand for is read when the event is told.
 */

/** What has happened, by ids. */
export type Happening = { readonly inboxId: InboxId } & (
  | {
      readonly type: 'message.received' | 'send.outcome';
      readonly messageId: MessageId;
      readonly threadId: ThreadId | null;
    }
  | { readonly type: 'message.failed'; readonly messageId: MessageId }
  | { readonly type: 'delivery.changed'; readonly messageId: MessageId; readonly deliveryId: DeliveryId }
  | { readonly type: 'thread.merged'; readonly threadId: ThreadId; readonly mergedId: ThreadId }
  | { readonly type: 'inbox.created' | 'inbox.deleted' }
  | {
      readonly type: 'trash.moved' | 'trash.restored' | 'trash.purged';
      readonly messageId: MessageId;
      readonly kind: MessageKind;
    }
);

export type EventRecord = Happening & {
  readonly id: EventId;
  /** When it happened, by the clock of that time. */
  readonly at: number;
};

/** Compile-time: a happening of every type of the contract, and of no other. */
true satisfies [EventType] extends [Happening['type']]
  ? [Happening['type']] extends [EventType]
    ? true
    : never
  : never;

interface EventKey {
  readonly accountId: AccountId;
  /** From 1, without gaps; one after the other in the order of the commits. */
  readonly sequence: number;
}

/** [account, sequence] -> what happened. */
export const eventsTable: Table<EventKey, EventRecord> = {
  name: 'events',
  encodeKey: ({ accountId, sequence }) => joinKey(idToBytes(accountId), u48(sequence)),
  ...jsonValue<EventRecord>(1),
};

export interface Feed {
  /** Sequence of the oldest event that is kept; `next` when there is none. */
  readonly first: number;
  /** Sequence of the next event. */
  readonly next: number;
  /** Id of the event before `first`, which is kept no longer; null when there was none. */
  readonly before: EventId | null;
  /** The due instant of the pending entry by which the newest events are forgotten; null when none is kept. */
  readonly forgetAt: number | null;
}

export const feedsTable: Table<AccountId, Feed> = {
  name: 'feeds',
  encodeKey: idToBytes,
  ...jsonValue<Feed>(1),
  gather: asItIs,
};

const EMPTY_FEED: Feed = { first: 1, next: 1, before: null, forgetAt: null };

export function getFeed(reader: Reader, accountId: AccountId): Feed {
  return reader.get(feedsTable, accountId) ?? EMPTY_FEED;
}

/** How long events are kept, and an hour at most beyond. */
export const EVENT_LIFETIME_MS = 30 * DAY_MS;
/** One entry of pending work serves for the events of an hour, and comes due when the last of them is old enough. */
const BATCH_MS = HOUR_MS;
export const FORGET_AFTER_MS = EVENT_LIFETIME_MS + BATCH_MS;
/** Events that are kept of one account, about 25 MB: strangers can make as many as they send mail. */
export const MAX_EVENTS = 100_000;

/**
 * Adds an event to the feed of the account that has the inbox, and wakes who waits for it when the unit of work is
 * committed. Nothing is told of what a deleted inbox held.
 * @param mostKept beyond so many, the oldest ones go
 */
export function noteEvent(writer: Writer, happening: Happening, nowMs: number, mostKept = MAX_EVENTS): void {
  const accountId = ownerOf(writer, happening.inboxId);
  if (accountId === null) return;
  const { first, next, before, forgetAt } = getFeed(writer, accountId);
  writer.put(
    eventsTable,
    { accountId, sequence: next },
    { id: newId<EventId>(nowMs), at: nowMs, ...happening },
  );
  // By a clock that was set back, the hour of the newest events may be ahead.
  const ageMs = forgetAt === null ? BATCH_MS : nowMs - (forgetAt - FORGET_AFTER_MS);
  const isInBatch = ageMs >= 0 && ageMs < BATCH_MS;
  if (!isInBatch) beginBatch(writer, accountId, { next, forgetAt }, nowMs);
  const planned = isInBatch ? forgetAt : nowMs + FORGET_AFTER_MS;
  const kept: Feed = { first, next: next + 1, before, forgetAt: planned };
  const excess = Math.min(kept.next - first - mostKept, DROPPED_AT_ONCE);
  writer.put(feedsTable, accountId, excess > 0 ? dropBefore(writer, accountId, kept, first + excess) : kept);
  writer.announce(accountId, happening.type);
}

/** More than one event adds, so that a feed that was longer comes within its bound. */
const DROPPED_AT_ONCE = 2;

/** Removes the oldest events, up to but not including a sequence. */
function dropBefore(writer: Writer, accountId: AccountId, feed: Feed, end: number): Feed {
  const last = writer.get(eventsTable, { accountId, sequence: end - 1 });
  for (let sequence = feed.first; sequence < end; sequence++) {
    writer.remove(eventsTable, { accountId, sequence });
  }
  return { ...feed, first: end, before: last?.id ?? null };
}

/** The batch before ends where the next event is; the new one is open: it has all that come until the next begins. */
function beginBatch(
  writer: Writer,
  id: AccountId,
  { next, forgetAt }: Pick<Feed, 'next' | 'forgetAt'>,
  nowMs: number,
): void {
  if (forgetAt !== null) addPending(writer, forgetAt, { kind: 'expire-events', id, before: next });
  addPending(writer, nowMs + FORGET_AFTER_MS, { kind: 'expire-events', id, before: null });
}

/** The pending entry of the newest events has another due instant. */
export function putForgetAt(writer: Writer, accountId: AccountId, forgetAt: number): void {
  writer.put(feedsTable, accountId, { ...getFeed(writer, accountId), forgetAt });
}

/**
 * Forgets events whose time is over.
 * @param before those before this sequence; all, where the batch is open
 * @returns how many they were; fewer than `limit`, all are forgotten
 */
export function forgetEvents(
  writer: Writer,
  accountId: AccountId,
  before: number | null,
  limit: number,
): number {
  const feed = getFeed(writer, accountId);
  const end = Math.min(before ?? feed.next, feed.next, feed.first + limit);
  const count = Math.max(0, end - feed.first);
  const kept = count === 0 ? feed : dropBefore(writer, accountId, feed, end);
  const isLast = before === null && count < limit;
  if (count > 0 || isLast) {
    writer.put(feedsTable, accountId, { ...kept, forgetAt: isLast ? null : kept.forgetAt });
  }
  return count;
}

/** More than an account has events in years. */
const EPOCH_GAP = 1_000_000_000;

/**
 * Begins a feed anew, where a backup has undone what it told: nothing is kept of it, whoever has a place in it is told so
 * (`cursor_expired`, `feed.gap`), and no sequence that was given before is given again.
 * @returns how many events were dropped; `limit`, when there may be more: call it again
 */
export function beginEpoch(writer: Writer, accountId: AccountId, nowMs: number, limit: number): number {
  const feed = getFeed(writer, accountId);
  const count = Math.min(feed.next - feed.first, limit);
  const end = feed.first + count;
  for (let sequence = feed.first; sequence < end; sequence++) {
    writer.remove(eventsTable, { accountId, sequence });
  }
  const next = count < limit ? feed.next + EPOCH_GAP : feed.next;
  const first = count < limit ? next : end;
  writer.put(feedsTable, accountId, { first, next, before: newId<EventId>(nowMs), forgetAt: null });
  return count;
}

export type StoredEvent = EventRecord & { readonly sequence: number };

/** Events of an account after a sequence, oldest first, at most `limit`. */
export function scanEvents(
  reader: Reader,
  accountId: AccountId,
  after: number,
  limit: number,
): StoredEvent[] {
  const account = idToBytes(accountId);
  return reader
    .scan(eventsTable, { ...range(account, joinKey(account, u48(after))), limit })
    .map(({ key, value }) => ({ sequence: key.readUIntBE(16, 6), ...value }));
}

/**
 * The id of the event at a place; null at the beginning of a feed.
 * @returns undefined for a place whose event is not known: too old, or not yet there
 */
export function eventIdAt(
  reader: Reader,
  accountId: AccountId,
  sequence: number,
): EventId | null | undefined {
  const { first, before } = getFeed(reader, accountId);
  if (sequence === first - 1) return before;
  return reader.get(eventsTable, { accountId, sequence })?.id;
}
