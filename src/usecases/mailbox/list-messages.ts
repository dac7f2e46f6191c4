import { type AccountId, type InboxId, toId } from '../../domain/ids.js';
import { filterScope, type MessageFilter } from '../../domain/message-filter.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Store } from '../../store/engine/store.js';
import { accessVersion } from '../../store/engine/writer.js';
import { getCounters, type MessageKind } from '../../store/mailbox/folders.js';
import { showThreads } from '../../store/threads/names.js';
import { locateInbox } from '../shared/callers.js';
import { fitting, nextCursor, numberCursors, startOf } from '../shared/pages.js';
import { findMessages } from './find-messages.js';

export interface MessagePage {
  /** One JSON object for each entry, in order. */
  readonly summaries: readonly Buffer[];
  readonly nextCursor: string | null;
}

/** `newest` or `oldest` first, by service time; or the best match of a search for words first. */
export type ListOrder = 'newest' | 'oldest' | 'relevance';

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
 * The version of all that a list depends on besides its input: access rights and the messages of the folder. While it
 * stays the same, a page answered before is still right. Null when there is no such inbox.
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
 * A page of an inbox's messages of one kind (`listMessages`, `listSentMessages`), by a filter without words: a search for
 * words waits for the index (`searchMessages`). The cursor is the sequence number of the last message looked at, so
 * messages that stay in the list are neither repeated nor skipped while others come and go. A search for a subject looks
 * at a bounded number of messages, so its page may be short, even empty, and still have a cursor.
 */
export function listMessages(deps: { store: Store; cursors: CursorCodec }, input: ListInput): MessagePage {
  return deps.store.read(reader => {
    const inbox = locateInbox(reader, input, input.inboxId);
    const folder = { inboxId: inbox.id, kind: input.kind };
    const scope = `${input.kind} ${folder.inboxId} ${input.order} ${filterScope(input.filter)}`;
    const cursors = numberCursors(deps.cursors, scope);
    const found = findMessages(reader, folder, input.filter, {
      isDescending: input.order === 'newest',
      limit: input.limit,
      position: startOf(cursors, input.cursor),
    });
    const entries = fitting(found.entries, entry => entry.summary.length);
    const summaries = entries.map(entry => entry.summary);
    showThreads(reader, folder.inboxId, summaries);
    const next = entries.length < found.entries.length ? (entries.at(-1)?.seq ?? null) : found.next;
    return { summaries, nextCursor: nextCursor(cursors, next) };
  });
}
