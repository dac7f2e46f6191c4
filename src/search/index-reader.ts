import type { AccountId } from '../domain/ids.js';
import type { Store } from '../store/engine/store.js';
import { getSearch, type SearchRecord } from '../store/records/search.js';
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
import { isPassing } from './sqlite.js';
import { searchFolder } from './word-threads.js';

/** Indexes that are kept open. */
const MAX_OPEN = 4;
/** A daemon may tell an index more between a look at the store and one at the index: so often both are looked at. */
const LOOKS = 5;
const RETRY_AFTER_S = 5;

export interface IndexReaderOptions {
  readonly store: Store;
  /** The index of an account cannot be used: a daemon has to make it anew. */
  readonly onLost: (accountId: AccountId, reason: string) => Promise<void>;
}

/** Searches the indexes in this process, beside a daemon or without one: for the command line. */
export class IndexReader implements WordIndex {
  readonly #options: IndexReaderOptions;
  readonly #indexes: OpenIndexes;

  constructor(options: IndexReaderOptions) {
    const { store } = options;
    this.#options = options;
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

  async #ask<Found extends object>(
    { accountId }: WordQuestion,
    nothing: Found,
    search: (index: AccountIndex) => Found,
  ): Promise<WordAnswer<Found>> {
    let record = this.#recordOf(accountId);
    for (let looks = 0; looks < LOOKS; looks += 1) {
      if (record !== undefined && record.rebuild !== null) break;
      if (record === undefined || record.mark === 0) return { status: 'found', ...nothing };
      try {
        return { status: 'found', ...search(this.#indexes.getAt(accountId, record.mark)) };
      } catch (error) {
        if (isPassing(error)) break;
        if (!(error instanceof UnusableIndexError)) throw error;
        const { mark } = record;
        record = this.#recordOf(accountId);
        if (record?.mark !== mark || record.rebuild !== null) continue;
        await this.#options.onLost(accountId, error.message);
        break;
      }
    }
    return { status: 'unavailable', retryAfterS: RETRY_AFTER_S };
  }

  #recordOf(accountId: AccountId): SearchRecord | undefined {
    return this.#options.store.read(reader => getSearch(reader, accountId));
  }
}

const NOTHING: WordHits = { seqs: new Uint32Array(0), isWhole: true };
