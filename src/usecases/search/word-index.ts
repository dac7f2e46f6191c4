import type { AccountId } from '../../domain/ids.js';
import type { SearchTerm } from '../../domain/search-words.js';

/** Messages of one folder that have all these words. */
export interface WordQuestion {
  readonly accountId: AccountId;
  /** Of the inbox and kind, within the account (`folderNumberOf`). */
  readonly folderNumber: number;
  readonly terms: readonly SearchTerm[];
  /** Sequence numbers from this one on, up to but not including `to`. */
  readonly from: number;
  readonly to: number;
  /** Only these numbers, in ascending order; all by default. */
  readonly only?: Uint32Array;
}

export type WordAnswer<Found> =
  | ({ readonly status: 'found' } & Found)
  /** It is being rebuilt, or too many ask: another try after so long may succeed. */
  | { readonly status: 'unavailable'; readonly retryAfterS: number };

/** Sequence numbers of messages that have the words. */
export interface WordHits {
  readonly seqs: Uint32Array;
  /** No more follow in the range. */
  readonly isWhole: boolean;
}

export interface RankedHits extends WordHits {
  /** One for each number; the lower, the better (bm25). They compare with those of the account's other folders. */
  readonly scores: Float64Array;
}

/**
 * Finds words in messages. It is derived from the store, and may lag behind it: what it has not taken in yet the store
 * lists (`listUnindexed`). Never throws for what a question says.
 */
export interface WordIndex {
  /** The first `limit` hits, newest or oldest first. */
  find(
    question: WordQuestion & { readonly isDescending: boolean; readonly limit: number },
  ): Promise<WordAnswer<WordHits>>;
  /** The newest `among` hits, best first, ties newest first. */
  rank(question: WordQuestion & { readonly among: number }): Promise<WordAnswer<RankedHits>>;
}
