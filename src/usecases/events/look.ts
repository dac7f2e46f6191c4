import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { MAX_PAGE_BYTES } from '../shared/pages.js';
import type { EventFeed, FeedPlace, StoredEvent } from './event-feed.js';
import { expired } from './event-places.js';

/** Events of whom, and what is told of each of those that one reader looks at; null for one that does not fit. */
export interface Wanted {
  readonly accountId: AccountId;
  readonly pick: (reader: Reader) => (event: StoredEvent) => Buffer | null;
  /** Which of those that were picked fit, where that takes longer to tell; all by default. In their order. */
  readonly narrow?: (picked: readonly Picked[]) => Promise<readonly Picked[]>;
}

export interface Picked {
  readonly event: StoredEvent;
  readonly json: Buffer;
}

export interface Look {
  readonly picked: readonly Picked[];
  /** After the last event that was looked at. */
  readonly place: FeedPlace;
  /** Nothing comes after the place. */
  readonly isAtEnd: boolean;
}

/** Events that are looked at in one event turn: a millisecond or two. */
const PER_TURN = 100;
/** Events that one look covers at most: where few fit, the place moves on all the same. */
const MAX_LOOKED_AT = 10_000;

/**
 * The first events after a place that fit, other work going on in between.
 * @param limit at most so many; fewer when they are large, but one at least
 * @throws `cursor_expired` when events after the place are no longer kept
 */
export async function lookFrom(
  deps: { readonly store: Store; readonly feed: EventFeed },
  wanted: Wanted,
  from: FeedPlace,
  limit: number,
  maxBytes = MAX_PAGE_BYTES,
): Promise<Look> {
  const picked: Picked[] = [];
  let look: Look = { picked, place: from, isAtEnd: false };
  for (let looked = 0; looked < MAX_LOOKED_AT; looked += PER_TURN) {
    if (looked > 0) await nextTurn();
    look = lookOnce(deps, wanted, look, limit, maxBytes);
    if (look.isAtEnd || isFull(picked, limit, maxBytes)) break;
  }
  return look;
}

function lookOnce(
  { store, feed }: { readonly store: Store; readonly feed: EventFeed },
  { accountId, pick }: Wanted,
  { place, picked }: Look,
  limit: number,
  maxBytes: number,
): Look {
  const { events, first, last } = feed.listAfter(accountId, place.sequence, PER_TURN);
  if (place.sequence < first - 1) throw expired();
  const found = picked as Picked[];
  let end = place;
  store.read(reader => {
    const pickFrom = pick(reader);
    for (const event of events) {
      if (isFull(found, limit, maxBytes)) return;
      const json = pickFrom(event);
      if (json !== null) found.push({ event, json });
      end = event;
    }
  });
  return { picked: found, place: { sequence: end.sequence, id: end.id }, isAtEnd: end.sequence >= last };
}

function isFull(picked: readonly Picked[], limit: number, maxBytes: number): boolean {
  return picked.length >= limit || picked.reduce((sum, { json }) => sum + json.length, 0) >= maxBytes;
}
