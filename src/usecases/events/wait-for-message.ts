import type { AccountId } from '../../domain/ids.js';
import type { MessageFilter } from '../../domain/message-filter.js';
import type { Reader } from '../../store/engine/tables.js';
import type { Folder } from '../../store/mailbox/folders.js';
import { getMessage } from '../../store/mailbox/messages.js';
import { showThreads } from '../../store/threads/names.js';
import { filterOf } from '../mailbox/find-messages.js';
import { FolderHits } from '../search/hits.js';
import type { WordIndex } from '../search/word-index.js';
import { locateInbox } from '../shared/callers.js';
import type { StoredEvent } from './event-feed.js';
import { readPlace, writePlace } from './event-places.js';
import { type EventDeps, waitFor } from './list-events.js';
import type { Picked } from './look.js';
import type { WaitingClient } from './waiters.js';

export interface WaitForMessageInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly filter: MessageFilter;
  /** A place in the feed of events; null for from now on. */
  readonly since: string | null;
  readonly waitMs: number;
}

export interface WaitForMessageDeps extends EventDeps {
  readonly index: WordIndex;
}

/**
 * The first message of an inbox that meets a filter and became ready after a place, as lists show it; waited for if there
 * is none yet. What is in Trash by now is passed over.
 * @returns null when none came in time; the cursor is the place to go on from in either case
 * @throws as `listEvents` does; `content_unavailable` while words cannot be searched for
 */
export async function waitForMessage(
  deps: WaitForMessageDeps,
  { accountId, inboxId, filter, since, waitMs }: WaitForMessageInput,
  client: WaitingClient,
): Promise<{ readonly message: Buffer | null; readonly nextCursor: string }> {
  const inbox = deps.store.read(reader => locateInbox(reader, { accountId }, inboxId));
  const folder = { inboxId: inbox.id, kind: 'received' } as const;
  const { picked, place } = await waitFor(
    deps,
    {
      accountId,
      pick: reader => {
        // Most looks find nothing that needs it.
        let lineOf: ReturnType<typeof filterOf> | null = null;
        return event => {
          if (event.type !== 'message.received' || event.inboxId !== folder.inboxId) return null;
          const message = getMessage(reader, event.messageId);
          if (message?.status !== 'ready') return null;
          lineOf ??= filterOf(reader, folder, filter);
          const line = lineOf(message.seq)?.summary ?? null;
          if (line !== null) showThreads(reader, folder.inboxId, [line]);
          return line;
        };
      },
      ...(filter.terms.length === 0
        ? {}
        : { narrow: (picked: readonly Picked[]) => havingWords(deps, accountId, folder, filter, picked) }),
    },
    { from: readPlace(deps, accountId, since ?? 'now'), limit: 1, waitMs },
    client,
  );
  return { message: picked[0]?.json ?? null, nextCursor: writePlace(place) };
}

/** Those of the messages that have the words, as a search finds them. */
async function havingWords(
  deps: WaitForMessageDeps,
  accountId: AccountId,
  folder: Folder,
  { terms }: MessageFilter,
  picked: readonly Picked[],
): Promise<readonly Picked[]> {
  const numbers = deps.store.read(reader => picked.map(({ event }) => seqOf(reader, event)));
  const only = Uint32Array.from(numbers.filter(seq => seq !== null)).sort();
  const [from, last] = [only.at(0), only.at(-1)];
  if (from === undefined || last === undefined) return [];
  const hits = await FolderHits.begin(deps, accountId, folder, terms);
  const { within } = await hits.find({ from, to: last + 1, isDescending: false, limit: only.length, only });
  return picked.filter((_, at) => {
    const seq = numbers[at];
    return seq != null && within.has(seq);
  });
}

function seqOf(reader: Reader, event: StoredEvent): number | null {
  return event.type === 'message.received' ? (getMessage(reader, event.messageId)?.seq ?? null) : null;
}
