import { setImmediate as nextTurn } from 'node:timers/promises';

import type { AccountId } from '../../domain/ids.js';
import type { MessageFilter } from '../../domain/message-filter.js';
import type { Counted } from '../../store/bitmap/combinations.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { type Folder, getCounters, type MessageKind } from '../../store/mailbox/folders.js';
import { getLabelCount } from '../../store/mailbox/postings.js';
import { countSelected } from '../../store/mailbox/select-messages.js';
import { locateInbox } from '../shared/callers.js';
import {
  amongHits,
  type FoundMessages,
  findMessages,
  type KnownHits,
  MAX_LOOKED_AT,
  type PageRequest,
  selectionOf,
} from './find-messages.js';

export interface CountInput {
  readonly accountId: AccountId;
  readonly inboxId: string;
  readonly kind: MessageKind;
  readonly filter: MessageFilter;
}

/**
 * How many messages meet a filter without words, exactly (`countMessages`; `countHits` counts those with words). Without
 * conditions or with one label it is a stored number. Other sets are combined, in one event turn for millions of messages
 * and many labels. A subject is looked for in every message that meets the rest. Long counts continue in the next event
 * turn, so that other requests are served.
 */
export async function countMessages({ store }: { store: Store }, input: CountInput): Promise<number> {
  const { filter } = input;
  const inbox = store.read(reader => locateInbox(reader, input, input.inboxId));
  const folder = { inboxId: inbox.id, kind: input.kind };
  const stored =
    filter.subject === null && filter.terms.length === 0
      ? store.read(reader => storedCount(reader, folder, filter))
      : null;
  return stored ?? (await countFound(store, folder, filter, null));
}

/**
 * Counts what a list by this filter shows.
 * @param hits as `findMessages` takes them
 */
export function countFound(
  store: Store,
  folder: Folder,
  filter: MessageFilter,
  hits: KnownHits | null,
): Promise<number> {
  const count = filter.subject === null ? countSets : countSubjects;
  return count(store, folder, filter, hits);
}

/** The count that the store keeps; null when it keeps none for this filter. */
function storedCount(reader: Reader, folder: Folder, filter: MessageFilter): number | null {
  const { labels } = filter;
  const hasOnlyLabels = [
    filter.from,
    filter.recipient,
    filter.after,
    filter.before,
    filter.authentication,
  ].every(value => value === null);
  const [label, ...more] = [...labels.all, ...labels.any];
  if (!hasOnlyLabels || labels.none.length > 0 || more.length > 0) return null;
  return label === undefined
    ? getCounters(reader, folder).live
    : getLabelCount(reader, folder.inboxId, label)[folder.kind];
}

async function countSets(
  store: Store,
  folder: Folder,
  filter: MessageFilter,
  hits: KnownHits | null,
): Promise<number> {
  let count = 0;
  let position: number | null = null;
  do {
    const start: number | null = position;
    const counted: Counted = store.read(reader => {
      const selection = selectionOf(reader, folder, filter, { isDescending: false, position: start });
      return countSelected(reader, folder, amongHits(selection, filter, hits));
    });
    count += counted.count;
    // Positions are numbers to go on behind.
    position = counted.stoppedAt === null ? null : counted.stoppedAt - 1;
    if (position !== null) await nextTurn();
  } while (position !== null);
  return count;
}

/** Counts what a list by the same filter shows, a page as long as one look a turn. */
async function countSubjects(
  store: Store,
  folder: Folder,
  filter: MessageFilter,
  hits: KnownHits | null,
): Promise<number> {
  let count = 0;
  let position: number | null = null;
  do {
    const request: PageRequest = { isDescending: true, limit: MAX_LOOKED_AT, position };
    const found: FoundMessages = store.read(reader => findMessages(reader, folder, filter, request, hits));
    count += found.entries.length;
    position = found.next;
    if (position !== null) await nextTurn();
  } while (position !== null);
  return count;
}
