import { type AccountId, type InboxId, toId } from '../../domain/ids.js';
import { filterScope, type MessageFilter } from '../../domain/message-filter.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import { accessVersion } from '../../store/engine/writer.js';
import { getCounters, type MessageKind } from '../../store/mailbox/folders.js';
import { locateInbox } from '../shared/callers.js';
import { nextCursor, numberCursors, startOf } from '../shared/pages.js';
import { showThreads } from '../threads/read-thread.js';
import { findMessages } from './find-messages.js';

export interface MessagePage {
  /** One JSON object an entry, in order, ready to be joined. */
  readonly summaries: readonly Buffer[];
  readonly nextCursor: string | null;
}

/** `newest` or `oldest` first, by service time. */
export type ListOrder = 'newest' | 'oldest';

export interface ListInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly kind: MessageKind;
  readonly filter: MessageFilter;
  readonly order: ListOrder;
  /** 1 to 100. */
  readonly limit: number;
  readonly cursor: string | null;
}

/**
 * What the lists of this event turn depend on besides their input: who may see what, and the messages of the
 * folder. As long as it is the same, so is every page that was answered. Null: there is no such inbox.
 */
export function listVersion(
  deps: { store: Store },
  input: Pick<ListInput, 'inboxId' | 'kind'>,
): string | null {
  const inboxId = toId<InboxId>(input.inboxId);
  if (inboxId === null) return null;
  return deps.store.read(reader => {
    const { version } = getCounters(reader, { inboxId, kind: input.kind });
    return `${accessVersion(reader)} ${version}`;
  });
}

/**
 * A page of an inbox's messages of one kind (specification; wire contract 3.6). The cursor is the number of
 * the message to go on behind, so that a live list neither repeats nor skips what stays in it. A page may
 * come back short, even empty, with a cursor: a search for a subject looks at a bounded number of messages.
 */
export function listMessages(deps: { store: Store; cursors: CursorCodec }, input: ListInput): MessagePage {
  return deps.store.read(reader => {
    const owned = locateInbox(reader, input, input.inboxId);
    const folder = { inboxId: owned.id, kind: input.kind };
    const scope = `${input.kind} ${folder.inboxId} ${input.order} ${filterScope(input.filter)}`;
    const cursors = numberCursors(deps.cursors, scope);
    const found = findMessages(reader, folder, input.filter, {
      isDescending: input.order === 'newest',
      limit: input.limit,
      position: startOf(cursors, input.cursor),
    });
    const summaries = found.entries.map(entry => entry.summary);
    showThreads(reader, folder.inboxId, summaries);
    return { summaries, nextCursor: nextCursor(cursors, found.next) };
  });
}
