import type { CursorCodec } from '../domain/cursor.js';
import { fail, ok, type Result } from '../domain/errors.js';
import type { AccountId } from '../domain/ids.js';
import { getCounters, scanSummaries } from '../store/messages.js';
import type { Store } from '../store/store.js';
import { ownedInbox } from './owned.js';

export interface MessagePage {
  /** One JSON object an entry, newest first, ready to be joined. */
  readonly summaries: readonly Buffer[];
  readonly nextCursor: string | null;
}

export interface ListInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  /** 1 to 100. */
  readonly limit: number;
  readonly cursor: string | null;
}

/** A page of an inbox's received mail in every processing state, newest first (specification). */
export function listMessages(
  deps: { store: Store; cursors: CursorCodec },
  input: ListInput,
): Result<MessagePage> {
  return deps.store.read(reader => {
    const owned = ownedInbox(reader, input.accountId, input.inboxId);
    if (!owned.ok) return owned;
    const inboxId = owned.value.id;
    const scope = `received ${inboxId}`;
    const before = input.cursor === null ? null : deps.cursors.decode(scope, input.cursor);
    if (before === null && input.cursor !== null) {
      return fail('invalid_cursor', 'The cursor does not belong to this list: start again without one.');
    }
    const entries = scanSummaries(reader, { inboxId, kind: 'received' }, before, input.limit + 1);
    const page = entries.slice(0, input.limit);
    const last = page.at(-1);
    const hasMore = entries.length > input.limit && last !== undefined;
    return ok({
      summaries: page.map(entry => entry.summary),
      nextCursor: hasMore ? deps.cursors.encode(scope, last.seq) : null,
    });
  });
}

/** How many messages an inbox holds, unfinished ones included. */
export function countMessages(
  deps: { store: Store },
  input: { accountId: AccountId; inboxId: string },
): Result<number> {
  return deps.store.read(reader => {
    const owned = ownedInbox(reader, input.accountId, input.inboxId);
    return owned.ok ? ok(getCounters(reader, owned.value.id, 'received').live) : owned;
  });
}
