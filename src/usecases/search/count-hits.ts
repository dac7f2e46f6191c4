import { type CountInput, countFound } from '../mailbox/count-messages.js';
import { locateInbox } from '../shared/callers.js';
import { HitWalk, type WalkedHits } from './hit-walk.js';
import { FolderHits, type HitDeps } from './hits.js';

/** How many messages have the words of a filter and meet the rest of it, exactly (`countMessages`). */
export async function countHits(deps: HitDeps, input: CountInput): Promise<number> {
  const { store } = deps;
  const { filter } = input;
  const inbox = store.read(reader => locateInbox(reader, input, input.inboxId));
  const folder = { inboxId: inbox.id, kind: input.kind };
  const hits = await FolderHits.begin(deps, inbox.accountId, folder, filter.terms);
  const walk = new HitWalk(store, hits, folder, filter, { isDescending: false });
  let count = 0;
  let position: number | null = null;
  do {
    const known: WalkedHits = await walk.next(position);
    count += await countFound(store, folder, filter, known);
    position = walk.behind(known);
  } while (position !== null);
  store.read(reader => locateInbox(reader, input, input.inboxId));
  return count;
}
