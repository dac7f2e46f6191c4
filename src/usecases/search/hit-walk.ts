import type { MessageFilter } from '../../domain/message-filter.js';
import type { Store } from '../../store/engine/store.js';
import type { Folder } from '../../store/mailbox/folders.js';
import { countSelected, type Selection, selectMessages } from '../../store/mailbox/select-messages.js';
import { type KnownHits, selectionOf } from '../mailbox/find-messages.js';
import { type FolderHits, MAX_FETCHED } from './hits.js';

/** Hits of the first question: enough for a page where nearly every hit is shown. */
const FIRST_FETCH = 512;
/** Each further question fetches so many times as many. */
const FETCH_GROWTH = 8;
/** Looking up one message in the index takes as long as fetching so many hits. */
const LOOK_UP_COST = 50;
/** Messages that are looked up by one question. */
const LOOK_UPS = 64;

/** The next part of a walk. */
export type WalkedHits = KnownHits & {
  /** Nothing follows. */
  readonly isWhole: boolean;
};

/**
 * Walks a folder from its newest or its oldest message on, for those that have the words of a filter and meet the rest of
 * it. It fetches hits; where much fewer messages meet the rest than have the words, it looks those up instead.
 */
export class HitWalk {
  readonly #store: Store;
  readonly #hits: FolderHits;
  readonly #folder: Folder;
  readonly #filter: MessageFilter;
  readonly #isDescending: boolean;
  #fetched = FIRST_FETCH;
  #looksUp = false;
  /** Questions that were asked. */
  questions = 0;

  constructor(
    store: Store,
    hits: FolderHits,
    folder: Folder,
    filter: MessageFilter,
    order: { readonly isDescending: boolean },
  ) {
    this.#store = store;
    this.#hits = hits;
    this.#folder = folder;
    this.#filter = filter;
    this.#isDescending = order.isDescending;
  }

  /** The hits of the next range behind a position; of messages that do not meet the rest of the filter, any or none. */
  async next(position: number | null): Promise<WalkedHits> {
    this.questions += 1;
    const page = { isDescending: this.#isDescending, position };
    const selection = this.#store.read(reader => selectionOf(reader, this.#folder, this.#filter, page));
    return this.#looksUp ? await this.#lookUp(selection) : await this.#fetch(selection);
  }

  /** The position to go on behind after a part of the walk; null at its end. */
  behind({ from, to, isWhole }: WalkedHits): number | null {
    return isWhole ? null : this.#isDescending ? from : to - 1;
  }

  async #fetch(selection: Selection): Promise<WalkedHits> {
    const { from, to } = selection;
    const limit = this.#fetched;
    this.#fetched = Math.min(limit * FETCH_GROWTH, MAX_FETCHED);
    const known = await this.#hits.find({ from, to, limit, isDescending: this.#isDescending });
    if (!known.isWhole && selection.all.length + selection.any.length > 0) {
      const others = { ...selection, from: known.from, to: known.to };
      const { count } = this.#store.read(reader => countSelected(reader, this.#folder, others));
      this.#looksUp = count * LOOK_UP_COST < limit;
    }
    return known;
  }

  async #lookUp(selection: Selection): Promise<WalkedHits> {
    const page = { isDescending: this.#isDescending, limit: LOOK_UPS };
    const { seqs, stoppedAt } = this.#store.read(reader =>
      selectMessages(reader, this.#folder, selection, page),
    );
    const isWhole = seqs.length < LOOK_UPS && stoppedAt === null;
    const last = seqs.length < LOOK_UPS ? stoppedAt : (seqs.at(-1) ?? null);
    const range = { from: selection.from, to: selection.to };
    if (last !== null && this.#isDescending) range.from = last;
    // Where a walk upwards stopped for now, it goes on with that number; a member is behind it.
    else if (last !== null) range.to = seqs.length < LOOK_UPS ? last : last + 1;
    const only = Uint32Array.from(seqs).sort();
    const { within } = await this.#hits.find({ ...range, ...page, only });
    return { ...range, within, isWhole };
  }
}
