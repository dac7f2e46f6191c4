import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ThreadPage } from '../../contract/threads.js';
import { filterScope } from '../../domain/message-filter.js';
import { locateInbox } from '../shared/callers.js';
import { memberCursors, nextCursor, startOf } from '../shared/pages.js';
import { THREAD_BOUNDS, ThreadSearch } from '../threads/find-threads.js';
import type { ListThreadsInput } from '../threads/list-threads.js';
import { InboxHits } from './inbox-hits.js';
import { bestThreads } from './rank-threads.js';
import type { SearchDeps } from './search-messages.js';

/** Hits of each kind that the first look at the index fetches for a page; each further one as many times more. */
const FIRST_FETCH = 2_048;
const FETCH_GROWTH = 8;

/** A page of the conversations with a message that has the words of the filter, and meets the rest of it. */
export async function searchThreads(deps: SearchDeps, input: ListThreadsInput): Promise<ThreadPage> {
  const { store } = deps;
  const { filter, order, limit } = input;
  const inbox = store.read(reader => locateInbox(reader, input, input.inboxId));
  const inboxId = inbox.id;
  const scope = `threads ${inboxId} ${order} ${filterScope(filter)}`;
  if (order === 'relevance') return await bestThreads(deps, input, inbox, scope);
  const cursors = memberCursors(deps.cursors, scope);
  const position = startOf(cursors, input.cursor);
  const isDescending = order === 'newest';
  const hits = await InboxHits.begin(deps, inbox, filter);
  // The oldest conversations may go back to any time.
  await hits.fetch(isDescending ? FIRST_FETCH : Number.POSITIVE_INFINITY);
  const page = { isDescending, limit, position };
  const search = new ThreadSearch(inboxId, filter, page, THREAD_BOUNDS, hits);
  for (;;) {
    const state = store.read(reader => search.advance(reader));
    if (state === 'done') break;
    if (state === 'hits') await hits.fetch(hits.fetched * FETCH_GROWTH);
    else await nextTurn();
  }
  store.read(reader => locateInbox(reader, input, inboxId));
  const found = search.result();
  return { threads: found.threads, next_cursor: nextCursor(cursors, found.next) };
}
