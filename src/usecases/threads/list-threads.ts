import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ThreadPage } from '../../contract/threads.js';
import type { AccountId, InboxId } from '../../domain/ids.js';
import { filterScope, type MessageFilter, NO_FILTER } from '../../domain/message-filter.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { getCounters } from '../../store/mailbox/folders.js';
import { foldersOf, type MemberPosition } from '../../store/threads/members.js';
import { getThread, scanActivity } from '../../store/threads/threads.js';
import type { ListOrder } from '../mailbox/list-messages.js';
import { locateInbox } from '../shared/callers.js';
import {
  type Cursors,
  fitting,
  memberCursors,
  nextCursor,
  type PageInput,
  page,
  startOf,
} from '../shared/pages.js';
import { ThreadSearch } from './find-threads.js';
import { sizeOfThread, viewThreadSummary } from './read-thread.js';

export interface ListThreadsInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly filter: MessageFilter;
  /** By latest activity. */
  readonly order: ListOrder;
  /** 1 to 100. */
  readonly limit: number;
  readonly cursor: string | null;
}

/**
 * The version of an inbox's conversations: while it stays the same, so does every page. It grows with every change of a
 * message, received or sent.
 */
export function threadListVersion(
  deps: { store: Store },
  input: Pick<ListThreadsInput, 'accountId' | 'inboxId'>,
): number {
  return deps.store.read(reader => {
    const inbox = locateInbox(reader, input, input.inboxId);
    const versions = foldersOf(inbox.id).map(folder => getCounters(reader, folder).version);
    return versions.reduce((sum, version) => sum + version, 0);
  });
}

/**
 * A page of an inbox's conversations by latest activity (`listThreads`), by a filter without words (`searchThreads` looks
 * for those). A conversation that becomes active moves to the front; no other is skipped or repeated, because the cursor
 * is the position of the latest member. A filtered page looks at a bounded number of messages, so it may be short, even
 * empty, and still have a cursor.
 */
export async function listThreads(
  deps: { store: Store; cursors: CursorCodec },
  input: ListThreadsInput,
): Promise<ThreadPage> {
  const { store } = deps;
  const { filter, order, limit } = input;
  const inbox = store.read(reader => locateInbox(reader, input, input.inboxId));
  const inboxId = inbox.id;
  const cursors = memberCursors(deps.cursors, `threads ${inboxId} ${order} ${filterScope(filter)}`);
  const isDescending = order === 'newest';
  if (filterScope(filter) === filterScope(NO_FILTER)) {
    return store.read(reader => firstThreads(reader, cursors, inboxId, isDescending, input));
  }
  const position = startOf(cursors, input.cursor);
  const search = new ThreadSearch(inboxId, filter, { isDescending, limit, position });
  while (store.read(reader => search.advance(reader)) !== 'done') await nextTurn();
  const found = search.result();
  return { threads: found.threads, next_cursor: nextCursor(cursors, found.next) };
}

/** A page of all conversations: costs the same whatever the inbox holds. */
function firstThreads(
  reader: Reader,
  cursors: Cursors<MemberPosition>,
  inboxId: InboxId,
  isDescending: boolean,
  asked: PageInput,
): ThreadPage {
  const { items, next_cursor } = page(
    cursors,
    asked,
    (position, limit) =>
      scanActivity(reader, inboxId, { isDescending, position, limit }).map(({ root, latest }) => {
        const thread = getThread(reader, root);
        return { latest, summary: thread === undefined ? null : viewThreadSummary(reader, thread, null) };
      }),
    ({ latest }) => latest,
    found => fitting(found, ({ summary }) => (summary === null ? 0 : sizeOfThread(summary))),
  );
  return { threads: items.flatMap(({ summary }) => summary ?? []), next_cursor };
}
