import type { AccountId } from '../../domain/ids.js';
import type { MessageFilter } from '../../domain/message-filter.js';
import { getMessage } from '../../store/mailbox/messages.js';
import { showThreads } from '../../store/threads/names.js';
import { findOne } from '../mailbox/find-messages.js';
import { locateInbox } from '../shared/callers.js';
import { readPlace, writePlace } from './event-places.js';
import { type EventDeps, waitFor } from './list-events.js';
import type { WaitingClient } from './waiters.js';

export interface WaitForMessageInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly filter: MessageFilter;
  /** A place in the feed of events; null for from now on. */
  readonly since: string | null;
  readonly waitMs: number;
}

/**
 * The first message of an inbox that meets a filter and became ready after a place, as lists show it; waited for if there
 * is none yet. What is in Trash by now is passed over.
 * @returns null when none came in time; the cursor is the place to go on from in either case
 * @throws as `listEvents` does
 */
export async function waitForMessage(
  deps: EventDeps,
  { accountId, inboxId, filter, since, waitMs }: WaitForMessageInput,
  client: WaitingClient,
): Promise<{ readonly message: Buffer | null; readonly nextCursor: string }> {
  const inbox = deps.store.read(reader => locateInbox(reader, { accountId }, inboxId));
  const folder = { inboxId: inbox.id, kind: 'received' } as const;
  const { picked, place } = await waitFor(
    deps,
    {
      accountId,
      pick: (reader, event) => {
        if (event.type !== 'message.received' || event.inboxId !== folder.inboxId) return null;
        const message = getMessage(reader, event.messageId);
        if (message?.status !== 'ready') return null;
        const line = findOne(reader, folder, filter, message.seq);
        if (line !== null) showThreads(reader, folder.inboxId, [line]);
        return line;
      },
    },
    { from: readPlace(deps, accountId, since ?? 'now'), limit: 1, waitMs },
    client,
  );
  return { message: picked[0]?.json ?? null, nextCursor: writePlace(place) };
}
