import type { AccountId } from '../domain/ids.js';
import type { Store } from '../store/engine/store.js';
import { getSearch, placeOfRow, rowOf } from '../store/records/search.js';
import type { RankedHits, WordAnswer, WordHits, WordIndex, WordQuestion } from '../usecases/ports.js';
import { answerWith } from './answer-requests.js';
import { OpenIndexes } from './open-indexes.js';
import type { FindRequest, RankRequest } from './protocol.js';
import { searchFolder } from './word-threads.js';

/** Seconds after which a question may be asked again: the index is being made anew; the daemon has to take up its work. */
const RETRY_AFTER_S = { rebuilding: 30, behind: 2 } as const;

/**
 * The search index for a process of its own, beside the daemon that writes it or without one: it answers in this thread,
 * and neither writes nor repairs anything.
 */
export class WordReader implements WordIndex {
  readonly #store: Store;
  readonly #indexes: OpenIndexes;

  constructor(store: Store) {
    this.#store = store;
    this.#indexes = new OpenIndexes(searchFolder(store.path), 'read', 1);
  }

  async find(
    question: WordQuestion & { readonly isDescending: boolean; readonly limit: number },
  ): Promise<WordAnswer<WordHits>> {
    const { isDescending, limit } = question;
    return this.#ask(question, asked => ({ kind: 'find', ...asked, isDescending, limit }));
  }

  async rank(question: WordQuestion & { readonly among: number }): Promise<WordAnswer<RankedHits>> {
    const { among } = question;
    return this.#ask(question, asked => ({ kind: 'rank', ...asked, among }));
  }

  /** Closes the files. */
  close(): void {
    this.#indexes.closeAll();
  }

  #ask(
    { accountId, folderNumber, terms, from, to, only }: WordQuestion,
    make: (asked: Asked) => Omit<FindRequest, 'id'> | Omit<RankRequest, 'id'>,
  ): WordAnswer<RankedHits> {
    const { mark, isRebuilding } = this.#knownOf(accountId);
    if (isRebuilding) return { status: 'unavailable', retryAfterS: RETRY_AFTER_S.rebuilding };
    if (mark === 0) return foundIn(new Float64Array(0), new Float64Array(0), true);
    const { answer } = answerWith(this.#indexes, {
      id: 0,
      ...make({
        accountId,
        mark,
        terms,
        from: rowOf(folderNumber, from),
        to: rowOf(folderNumber, to),
        ...(only === undefined ? {} : { only: Float64Array.from(only, seq => rowOf(folderNumber, seq)) }),
      }),
    });
    return answer.kind === 'found'
      ? foundIn(answer.rows, answer.scores ?? new Float64Array(0), answer.isWhole)
      : { status: 'unavailable', retryAfterS: RETRY_AFTER_S.behind };
  }

  #knownOf(accountId: AccountId): { readonly mark: number; readonly isRebuilding: boolean } {
    const record = this.#store.read(reader => getSearch(reader, accountId));
    return { mark: record?.mark ?? 0, isRebuilding: record !== undefined && record.rebuild !== null };
  }
}

type Asked = Omit<FindRequest, 'id' | 'kind' | 'isDescending' | 'limit'>;

function foundIn(rows: Float64Array, scores: Float64Array, isWhole: boolean): WordAnswer<RankedHits> {
  const seqs = Uint32Array.from(rows, row => placeOfRow(row).seq);
  return { status: 'found', seqs, scores, isWhole };
}
