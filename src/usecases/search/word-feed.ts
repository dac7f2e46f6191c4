import type { AccountId } from '../../domain/ids.js';

/** What is to be in a row of the index of an account. */
export type WordChange =
  /** Joined words in UTF-8 (`domain/message-words.ts`); null: nothing. */
  | { readonly row: number; readonly words: Uint8Array | null }
  /** The words of a stored content, which are still to be made: JSON with a `text` and an `html`. */
  | { readonly row: number; readonly subject: string | null; readonly content: Uint8Array };

export interface WordBatch {
  readonly accountId: AccountId;
  /** The mark that the store knows the index by (`SearchRecord`); 0: an empty one takes its place first. */
  readonly from: number;
  /** The mark that it gets. */
  readonly to: number;
  readonly changes: readonly WordChange[];
}

export type FeedOutcome =
  /**
   * It is on disk. `isErased`: nothing is left in its files of words that had to go; otherwise somebody was reading, and
   * the same is to be told again.
   */
  | { readonly status: 'applied'; readonly isErased: boolean }
  /** The index is missing, damaged or of another state of the store: it has to be made anew. */
  | { readonly status: 'lost'; readonly reason: string }
  /** Not now: the disk is full, or its thread has ended. */
  | { readonly status: 'failed'; readonly reason: string };

/** Tells the index of an account what it is to hold. Telling it twice is like telling it once. */
export interface WordFeed {
  /** Never rejects. */
  apply(batch: WordBatch): Promise<FeedOutcome>;
}
