import type { Store } from '../../store/engine/store.js';
import { EventFeed } from './event-feed.js';
import { EventViews } from './event-views.js';
import type { EventDeps } from './list-events.js';
import { Waiters } from './waiters.js';

/**
 * The events of a store for all who read them and wait for them.
 * @param maxWaiters how many may wait at a time, of all accounts
 */
export function createEvents(store: Store, maxWaiters: number): EventDeps {
  const feed = new EventFeed({ store });
  return { store, feed, views: new EventViews(), waiters: new Waiters({ store, feed }, { max: maxWaiters }) };
}
