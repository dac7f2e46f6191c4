import { type CountInput, countFound } from '../mailbox/count-messages.js';
import { selectionOf } from '../mailbox/find-messages.js';
import { locateInbox } from '../shared/callers.js';
import { FolderHits, type HitDeps, MAX_FETCHED } from './hits.js';

/** How many messages have the words of a filter and meet the rest of it, exactly (`countMessages`). */
export async function countHits(deps: HitDeps, input: CountInput): Promise<number> {
  const { store } = deps;
  const { filter } = input;
  const inbox = store.read(reader => locateInbox(reader, input, input.inboxId));
  const folder = { inboxId: inbox.id, kind: input.kind };
  const search = await FolderHits.begin(deps, inbox.accountId, folder, filter.terms);
  let count = 0;
  let position: number | null = null;
  for (;;) {
    const page = { isDescending: false, position };
    const { from, to } = store.read(reader => selectionOf(reader, folder, filter, page));
    const hits = await search.find({ from, to, isDescending: false, limit: MAX_FETCHED });
    count += await countFound(store, folder, filter, hits);
    if (hits.isWhole) break;
    position = hits.to - 1;
  }
  store.read(reader => locateInbox(reader, input, input.inboxId));
  return count;
}
