import type { SearchedTexts } from '../domain/message-words.js';
import type { SearchTerm } from '../domain/search-words.js';

/**
 * The protocol between the main thread and the threads of the index. Each request has a number, and gets one answer with
 * the same. One thread writes, the others read: who searches never waits for a batch that is put in.
 */

export type ToThread =
  | ApplyRequest
  /** Is the index of an account the one that the store knows by this mark? */
  | { readonly kind: 'check'; readonly id: number; readonly accountId: string; readonly mark: number }
  | FindRequest
  | RankRequest
  /** Close every file and end. */
  | { readonly kind: 'end' };

export interface ApplyRequest {
  readonly kind: 'apply';
  readonly id: number;
  readonly accountId: string;
  /** As in `SearchRecord`; 0: the file is made new. */
  readonly from: number;
  readonly to: number;
  readonly changes: readonly ThreadChange[];
}

/** What is to be in a row: words that are ready-made, words that are yet to be made of a content, or nothing. */
export type ThreadChange =
  | { readonly row: number; readonly words: Uint8Array | null }
  | { readonly row: number; readonly content: Uint8Array; readonly subject: SearchedTexts['subject'] };

interface Asked {
  readonly id: number;
  readonly accountId: string;
  /** By which the store knows the index. */
  readonly mark: number;
  readonly terms: readonly SearchTerm[];
  /** Rows. */
  readonly from: number;
  readonly to: number;
  readonly only?: Float64Array;
}

export interface FindRequest extends Asked {
  readonly kind: 'find';
  readonly isDescending: boolean;
  readonly limit: number;
}

export interface RankRequest extends Asked {
  readonly kind: 'rank';
  readonly among: number;
}

export type FromThread = { readonly kind: 'ready' } | ({ readonly id: number } & ThreadAnswer);

export type ThreadAnswer =
  | { readonly kind: 'applied'; readonly isErased: boolean }
  | { readonly kind: 'sound' }
  | {
      readonly kind: 'found';
      readonly rows: Float64Array;
      readonly scores: Float64Array | null;
      readonly isWhole: boolean;
      /** Milliseconds for which the thread did nothing else. */
      readonly tookMs: number;
    }
  /** The index that was to be searched may be another than the store knows, or has been told more meanwhile. */
  | { readonly kind: 'suspect' }
  /** The index of the account has to be made anew. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** Nothing was done, for a reason that may pass. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Passed to a thread at its start. */
export interface IndexSetup {
  readonly directory: string;
  readonly role: 'write' | 'find' | 'rank';
  readonly maxOpen: number;
}
