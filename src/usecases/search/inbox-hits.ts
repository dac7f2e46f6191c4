import type { AccountId, InboxId } from '../../domain/ids.js';
import type { MessageFilter } from '../../domain/message-filter.js';
import { NumberSet } from '../../store/bitmap/number-set.js';
import { MAX_U48 } from '../../store/engine/keys.js';
import type { Reader } from '../../store/engine/tables.js';
import { type Folder, type MessageKind, numbersBetween, scanSummaries } from '../../store/mailbox/folders.js';
import { foldersOf, placeOf } from '../../store/threads/members.js';
import type { MemberHits } from '../threads/find-threads.js';
import { FolderHits, type HitDeps, MAX_FETCHED } from './hits.js';

export interface SearchedInbox {
  readonly id: InboxId;
  readonly accountId: AccountId;
}

/** The hits of both kinds in an inbox, fetched from the newest on as far as they are needed. */
export class InboxHits implements MemberHits {
  readonly #deps: HitDeps;
  readonly folders: readonly FolderWalk[];
  readonly found: Readonly<Record<MessageKind, NumberSet>>;
  completeAfter = Number.POSITIVE_INFINITY;
  /** Hits of one kind that have been fetched, about. */
  fetched = 0;

  private constructor(deps: HitDeps, folders: readonly FolderWalk[], found: InboxHits['found']) {
    this.#deps = deps;
    this.folders = folders;
    this.found = found;
  }

  static async begin(
    deps: HitDeps,
    { id: inboxId, accountId }: SearchedInbox,
    filter: MessageFilter,
  ): Promise<InboxHits> {
    const found = { received: new NumberSet(), sent: new NumberSet() };
    const walks: FolderWalk[] = [];
    for (const folder of foldersOf(inboxId)) {
      const { from, to } = deps.store.read(reader =>
        numbersBetween(reader, folder, filter.after, filter.before),
      );
      const hits = await FolderHits.begin(deps, accountId, folder, filter.terms);
      walks.push({ folder, hits, from, to, within: found[folder.kind], isWhole: false });
    }
    return new InboxHits(deps, walks, found);
  }

  /** Fetches hits until there are so many of each kind, or all. */
  async fetch(count: number): Promise<void> {
    for (const walk of this.folders) {
      for (let rest = count - this.fetched; rest > 0 && !walk.isWhole; rest -= MAX_FETCHED) {
        const { from, to } = walk;
        const limit = Math.min(rest, MAX_FETCHED);
        const known = await walk.hits.find({ from, to, isDescending: true, limit });
        walk.within.addAll(known.within);
        walk.to = known.from;
        walk.isWhole = known.isWhole;
      }
    }
    this.fetched = count;
    this.completeAfter = this.#deps.store.read(reader =>
      Math.max(...this.folders.map(walk => completeAfter(reader, walk))),
    );
  }
}

/** How far the hits of a folder are known. */
export interface FolderWalk {
  readonly folder: Folder;
  readonly hits: FolderHits;
  readonly within: NumberSet;
  readonly from: number;
  /** Everything from here on is known. */
  to: number;
  isWhole: boolean;
}

/** The place in time that all that is not known lies before, or at. */
function completeAfter(reader: Reader, { folder, from, to, isWhole }: FolderWalk): number {
  if (isWhole || to <= from) return -1;
  const range = { from: to, to: MAX_U48, isDescending: false, limit: 1 };
  const [first] = scanSummaries(reader, folder, range);
  // Places grow with numbers: what is before the first live message from there on is not later than that.
  return first === undefined
    ? Number.POSITIVE_INFINITY
    : placeOf(reader, { ...folder, seq: first.seq }, first.summary);
}
