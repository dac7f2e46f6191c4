import { refuse } from '../../domain/errors.js';
import { type AccountId, idToBytes } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import { eventIdAt } from '../../store/records/events.js';
import type { EventFeed, FeedPlace } from './event-feed.js';

/*
 * A place as clients have it: an opaque text that goes with no filter and no account. It holds the sequence and a part
 * of the id of the event there. A place of another feed, or of a state of this one that a restored backup has undone,
 * names an event that is not there, and is refused: nobody goes on from it and misses what has come since. It needs no
 * secret, because it opens nothing but the feed of whoever asks.
 */

const VERSION = 1;
const SEQUENCE_BYTES = 6;
/** Of the id: random bits, which no two events share. */
const TAG_BYTES = 8;
const TAG_AT = 1 + SEQUENCE_BYTES;
const LENGTH = TAG_AT + TAG_BYTES;
const CURSOR = /^[A-Za-z0-9_-]{20}$/;

/** `after=now`: from here on. */
const NOW = 'now';

/** The cursor of a place. */
export function writePlace({ sequence, id }: FeedPlace): string {
  const bytes = Buffer.alloc(LENGTH);
  bytes[0] = VERSION;
  bytes.writeUIntBE(sequence, 1, SEQUENCE_BYTES);
  if (id !== null) idToBytes(id).copy(bytes, TAG_AT, 16 - TAG_BYTES);
  return bytes.toString('base64url');
}

/**
 * The place that a client means.
 * @param after a cursor, `now`, or null for the oldest event that is kept
 * @throws `invalid_cursor` for what is no cursor, `cursor_expired` for one whose place is no longer known
 */
export function readPlace(
  { store, feed }: { readonly store: Store; readonly feed: EventFeed },
  accountId: AccountId,
  after: string | null,
): FeedPlace {
  if (after === null) return feed.beginning(accountId);
  if (after === NOW) return feed.end(accountId);
  const bytes = Buffer.from(after, 'base64url');
  if (!CURSOR.test(after) || bytes[0] !== VERSION || bytes.toString('base64url') !== after) {
    throw refuse('invalid_cursor', 'This is no cursor of a feed of events: use a next_cursor, now, or none.');
  }
  const sequence = bytes.readUIntBE(1, SEQUENCE_BYTES);
  const id = store.read(reader => eventIdAt(reader, accountId, sequence));
  if (id === undefined || writePlace({ sequence, id }) !== after) throw expired();
  return { sequence, id };
}

/** What comes after a place is not all there any more. */
export function expired(): Error {
  return refuse(
    'cursor_expired',
    'Events after this cursor are no longer kept, or it is from before a backup was restored. Read what is there by lists, then go on with after=now.',
  );
}
