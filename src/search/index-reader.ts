import type { AccountId } from '../domain/ids.js';
import type { Store } from '../store/engine/store.js';
import { getSearch } from '../store/records/search.js';
import type {
  RankedHits,
  WordAnswer,
  WordHits,
  WordIndex,
  WordQuestion,
} from '../usecases/search/word-index.js';
import { type AccountIndex, UnusableIndexError } from './account-index.js';
import { OpenIndexes } from './open-indexes.js';
import { rowsOf, seqsOf } from './rows.js';
import { searchFolder } from './word-threads.js';

/** Indexes that are kept open. */
const MAX_OPEN = 4;
/** A daemon tells an index more between a look at the store and one at the index: so often that is looked at again. */
const LOOKS = 5;
const RETRY_AFTER_S = 5;

/**
 * Searches the indexes in this process, beside a daemon or without one: for the command line. What it finds to be
 * unusable it leaves to the daemon.
 */
export class IndexReader implements WordIndex {
  readonly #store: Store;
  readonly #indexes: OpenIndexes;

  constructor(store: Store) {
    this.#store = store;
    this.#indexes = new OpenIndexes(searchFolder(store.path), 'read', MAX_OPEN);
  }

  async find(
    question: WordQuestion & { readonly isDescending: boolean; readonly limit: number },
  ): Promise<WordAnswer<WordHits>> {
    return this.#ask(question, NOTHING, index => {
      const { rows, isWhole } = index.find(rowsOf(question), question.isDescending, question.limit);
      return { seqs: seqsOf(rows), isWhole };
    });
  }

  async rank(question: WordQuestion & { readonly among: number }): Promise<WordAnswer<RankedHits>> {
    return this.#ask(question, { ...NOTHING, scores: new Float64Array(0) }, index => {
      const { rows, scores, isWhole } = index.rank(rowsOf(question), question.among);
      return { seqs: seqsOf(rows), scores: Float64Array.from(scores), isWhole };
    });
  }

  close(): void {
    this.#indexes.closeAll();
  }

  #ask<Found extends object>(
    { accountId }: WordQuestion,
    nothing: Found,
    search: (index: AccountIndex) => Found,
  ): WordAnswer<Found> {
    try {
      for (let looks = 0; looks < LOOKS; looks += 1) {
        const record = this.#store.read(reader => getSearch(reader, accountId));
        if (record !== undefined && record.rebuild !== null) break;
        if (record === undefined || record.mark === 0) return { status: 'found', ...nothing };
        const index = this.#indexes.get(accountId as AccountId);
        if (index.knows(record.mark)) return { status: 'found', ...search(index) };
      }
    } catch (error) {
      if (!(error instanceof UnusableIndexError)) throw error;
    }
    return { status: 'unavailable', retryAfterS: RETRY_AFTER_S };
  }
}

const NOTHING: WordHits = { seqs: new Uint32Array(0), isWhole: true };
