import type { MessageFilter } from '../../domain/message-filter.js';
import type { Store } from '../../store/engine/store.js';
import type { Folder } from '../../store/mailbox/folders.js';
import { countSelected, type Selection, selectMessages } from '../../store/mailbox/select-messages.js';
import { type KnownHits, selectionOf } from '../mailbox/find-messages.js';
import { type FolderHits, MAX_FETCHED } from './hits.js';

/** Hits of the first question where most of them may not meet the rest of the filter, or all are wanted. */
const FIRST_FETCH = 512;
/** Where nearly every hit is shown, the first question asks for so many more than are wanted: some may lie in Trash. */
const SPARE = 12;
/** Each further question fetches so many times as many. */
const FETCH_GROWTH = 8;
/** Looking up one message in the index takes as long as fetching so many hits. */
const LOOK_UP_COST = 50;
/** Messages that are looked up by one question, at most. */
const LOOK_UPS = 64;

export interface HitWalkOptions {
  /** From the newest message on. */
  readonly isDescending: boolean;
  /** Messages that are wanted in all; every one by default. */
  readonly wanted?: number;
}

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
  readonly #wanted: number;
  /** Hits that the next question fetches; null before the first. */
  #fetched: number | null = null;
  #looksUp = false;
  /** Questions that were asked. */
  questions = 0;

  constructor(
    store: Store,
    hits: FolderHits,
    folder: Folder,
    filter: MessageFilter,
    { isDescending, wanted = Number.POSITIVE_INFINITY }: HitWalkOptions,
  ) {
    this.#store = store;
    this.#hits = hits;
    this.#folder = folder;
    this.#filter = filter;
    this.#isDescending = isDescending;
    this.#wanted = wanted;
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
    const limit = this.#fetched ?? this.#firstFetch(selection);
    this.#fetched = Math.min(limit * FETCH_GROWTH, MAX_FETCHED);
    const known = await this.#hits.find({ from, to, limit, isDescending: this.#isDescending });
    if (!known.isWhole && selection.all.length + selection.any.length > 0) {
      const others = { ...selection, from: known.from, to: known.to };
      const { count } = this.#store.read(reader => countSelected(reader, this.#folder, others));
      this.#looksUp = count * LOOK_UP_COST < limit;
    }
    return known;
  }

  #firstFetch({ all, any, none }: Selection): number {
    const isNarrowed = all.length + any.length + none.length > 0 || this.#filter.subject !== null;
    return isNarrowed ? FIRST_FETCH : Math.min(this.#wanted + SPARE, FIRST_FETCH);
  }

  async #lookUp(selection: Selection): Promise<WalkedHits> {
    const page = { isDescending: this.#isDescending, limit: Math.min(this.#wanted + SPARE, LOOK_UPS) };
    const { seqs, stoppedAt } = this.#store.read(reader =>
      selectMessages(reader, this.#folder, selection, page),
    );
    const isWhole = seqs.length < page.limit && stoppedAt === null;
    const last = seqs.length < page.limit ? stoppedAt : (seqs.at(-1) ?? null);
    const range = { from: selection.from, to: selection.to };
    if (last !== null && this.#isDescending) range.from = last;
    // Where a walk upwards stopped for now, it goes on with that number; a member is behind it.
    else if (last !== null) range.to = seqs.length < page.limit ? last : last + 1;
    const only = Uint32Array.from(seqs).sort();
    const { within } = await this.#hits.find({ ...range, ...page, only });
    return { ...range, within, isWhole };
  }
}
