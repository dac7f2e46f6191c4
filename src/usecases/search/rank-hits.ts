import { MAX_RANKED } from '../../contract/limits.js';
import type { MessageFilter } from '../../domain/message-filter.js';
import type { Folder } from '../../store/mailbox/folders.js';
import { selectMessages } from '../../store/mailbox/select-messages.js';
import { amongHits, isUnrestricted, type KnownHits, selectionOf } from '../mailbox/find-messages.js';
import { HitWalk, type WalkedHits } from './hit-walk.js';
import type { FolderHits, HitDeps } from './hits.js';

/** The best of the newest messages of a folder that meet a filter, its subject aside. */
export async function rankFolder(
  deps: HitDeps,
  hits: FolderHits,
  folder: Folder,
  filter: MessageFilter,
): Promise<{ readonly seqs: readonly number[]; readonly scores: readonly number[] }> {
  const start = { isDescending: true, position: null };
  const selection = deps.store.read(reader => selectionOf(reader, folder, filter, start));
  const { from, to } = selection;
  if (isUnrestricted(selection)) return await hits.rank({ from, to, among: MAX_RANKED });
  const only = await newestMatches(deps, hits, folder, filter);
  if (only.length === 0) return { seqs: [], scores: [] };
  return await hits.rank({ from, to, among: MAX_RANKED, only });
}

/** Numbers of the newest messages that meet a filter, its subject aside, as many as are ranked; in ascending order. */
async function newestMatches(
  { store }: HitDeps,
  hits: FolderHits,
  folder: Folder,
  filter: MessageFilter,
): Promise<Uint32Array> {
  const walk = new HitWalk(store, hits, folder, filter, { isDescending: true });
  const matches: number[] = [];
  let position: number | null = null;
  do {
    const known: WalkedHits = await walk.next(position);
    for (let rest: KnownHits | null = known; rest !== null && matches.length < MAX_RANKED; ) {
      const start: KnownHits = rest;
      const found = store.read(reader => {
        const page = { isDescending: true, position: null };
        const selection = amongHits(selectionOf(reader, folder, filter, page), filter, start);
        const limit = MAX_RANKED - matches.length;
        return selectMessages(reader, folder, selection, { isDescending: true, limit });
      });
      matches.push(...found.seqs);
      rest = found.stoppedAt === null ? null : { ...start, to: found.stoppedAt };
    }
    position = walk.behind(known);
  } while (position !== null && matches.length < MAX_RANKED);
  return Uint32Array.from(matches.reverse());
}
