import { setImmediate as nextTurn } from 'node:timers/promises';
import { filterScope } from '../../domain/message-filter.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Folder, SummaryEntry } from '../../store/mailbox/folders.js';
import { showThreads } from '../../store/threads/names.js';
import { filterOf, findMessages, type PageRequest } from '../mailbox/find-messages.js';
import type { ListInput, MessagePage } from '../mailbox/list-messages.js';
import { locateInbox } from '../shared/callers.js';
import { fitting, nextCursor, numberCursors, startOf } from '../shared/pages.js';
import { HitWalk } from './hit-walk.js';
import { FolderHits, type HitDeps } from './hits.js';
import { rankFolder } from './rank-hits.js';
import { placeCursors, rankingAt } from './ranked-pages.js';
import type { RankedMessages, Rankings } from './rankings.js';

export interface SearchDeps extends HitDeps {
  readonly cursors: CursorCodec;
  readonly rankings: Rankings;
}

/** Questions for one page, in which a hundred thousand hits come by; then it ends early. */
const MOST_QUESTIONS = 6;
/** Ranked messages that are looked at in one event turn. */
const RANKED_PER_TURN = 1_000;

/** A page of the messages that have the words of the filter, and meet the rest of it. */
export async function searchMessages(deps: SearchDeps, input: ListInput): Promise<MessagePage> {
  const { store } = deps;
  const { filter, order } = input;
  const inbox = store.read(reader => locateInbox(reader, input, input.inboxId));
  const folder = { inboxId: inbox.id, kind: input.kind };
  const scope = `${folder.kind} ${folder.inboxId} ${order} ${filterScope(filter)}`;
  const search: Search = { input, folder, scope, accountId: inbox.accountId };
  return order === 'relevance' ? await bestPage(deps, search) : await pageByTime(deps, search);
}

interface Search {
  readonly input: ListInput;
  readonly folder: Folder;
  readonly scope: string;
  readonly accountId: ListInput['accountId'];
}

async function pageByTime(deps: SearchDeps, search: Search): Promise<MessagePage> {
  const { store } = deps;
  const { input, folder, scope, accountId } = search;
  const { filter, limit } = input;
  const isDescending = input.order === 'newest';
  const cursors = numberCursors(deps.cursors, scope);
  let position = startOf(cursors, input.cursor);
  const hits = await FolderHits.begin(deps, accountId, folder, filter.terms);
  const walk = new HitWalk(store, hits, folder, filter, { isDescending, wanted: limit });
  const entries: SummaryEntry[] = [];
  for (;;) {
    const page: PageRequest = { isDescending, limit: limit - entries.length, position };
    const known = await walk.next(position);
    const found = store.read(reader => findMessages(reader, folder, filter, page, known));
    entries.push(...found.entries);
    position = found.next ?? walk.behind(known);
    const isEnough = found.next !== null || entries.length >= limit || walk.questions >= MOST_QUESTIONS;
    if (position === null || isEnough) break;
  }
  return showPage(deps, search, entries, shown => {
    const next = shown.length < entries.length ? (shown.at(-1)?.seq ?? null) : position;
    return nextCursor(cursors, next);
  });
}

/** Encodes a page, unless the inbox has gone meanwhile. */
function showPage(
  { store }: HitDeps,
  { input, folder }: Search,
  entries: readonly SummaryEntry[],
  cursorBehind: (shown: readonly SummaryEntry[]) => string | null,
): MessagePage {
  const shown = fitting(entries, ({ summary }) => summary.length);
  const summaries = shown.map(({ summary }) => summary);
  store.read(reader => {
    locateInbox(reader, input, input.inboxId);
    showThreads(reader, folder.inboxId, summaries);
  });
  return { summaries, nextCursor: cursorBehind(shown) };
}

/** By relevance: the order is made for the first page, and kept for the others. */
async function bestPage(deps: SearchDeps, search: Search): Promise<MessagePage> {
  const { input, folder, scope, accountId } = search;
  const { filter, limit } = input;
  const cursors = placeCursors(deps.cursors, scope);
  const asked = startOf(cursors, input.cursor);
  const ranking: RankedMessages =
    asked === null
      ? { type: 'messages', seqs: await rankMessages(deps, search) }
      : rankingAt(deps.rankings, accountId, asked.name, 'messages');
  const places: number[] = [];
  const entries: SummaryEntry[] = [];
  for (let at = asked?.place ?? 0; at < ranking.seqs.length && entries.length <= limit; ) {
    const end = Math.min(at + RANKED_PER_TURN, ranking.seqs.length);
    if (places.length > 0 || at > (asked?.place ?? 0)) await nextTurn();
    at = deps.store.read(reader => {
      const meets = filterOf(reader, folder, filter);
      let place = at;
      for (; place < end && entries.length <= limit; place++) {
        const entry = meets(ranking.seqs[place] ?? 0);
        if (entry === null) continue;
        entries.push(entry);
        places.push(place);
      }
      return place;
    });
  }
  return showPage(deps, search, entries.slice(0, limit), shown => {
    const place = places[shown.length];
    if (place === undefined) return null;
    return cursors.write({ name: asked?.name ?? deps.rankings.keep(accountId, ranking), place });
  });
}

async function rankMessages(
  deps: SearchDeps,
  { input, folder, accountId }: Search,
): Promise<readonly number[]> {
  const hits = await FolderHits.begin(deps, accountId, folder, input.filter.terms);
  return (await rankFolder(deps, hits, folder, input.filter)).seqs;
}
