import { setImmediate as nextTurn } from 'node:timers/promises';
import { Refusal } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import { hasTerms } from '../../domain/message-words.js';
import type { SearchTerm } from '../../domain/search-words.js';
import { NumberSet } from '../../store/bitmap/number-set.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import type { Folder } from '../../store/mailbox/folders.js';
import {
  folderNumberOf,
  indexedWordsOf,
  listUnindexed,
  searchStateOf,
  type Unindexed,
} from '../../store/records/search.js';
import type { KnownHits } from '../mailbox/find-messages.js';
import type { WordAnswer, WordIndex, WordQuestion } from './word-index.js';

export interface HitDeps {
  readonly store: Store;
  readonly index: WordIndex;
}

export interface HitRange {
  readonly from: number;
  readonly to: number;
  readonly isDescending: boolean;
  /** Hits to fetch at most; where there are more, less of the range is known. */
  readonly limit: number;
  /** Only these numbers, in ascending order; all by default. */
  readonly only?: Uint32Array;
}

/** Hits that one question fetches at most: some milliseconds of the index, less than one here. */
export const MAX_FETCHED = 65_536;

/** What the index lags behind by is looked through, up to so much for one folder. */
const MAX_TAIL = { messages: 500, bytes: 2 * 2 ** 20 } as const;
/** UTF-16 units that are looked through in one event turn: about a millisecond for sixteen terms. */
const UNITS_PER_TURN = 128 * 1024;
const RETRY_AFTER_S = { rebuilding: 30, behind: 2 } as const;

/**
 * A search for words in one folder, exact although the index lags behind: what it had not taken in when the search began
 * is looked through here, and what it says about those messages does not count. Each later question to the index
 * therefore sees at least what was there at the beginning.
 */
export class FolderHits {
  readonly #deps: HitDeps;
  /** Null for a folder that has never had a message. */
  readonly #question: Omit<WordQuestion, 'from' | 'to'> | null;
  /** Messages of which the index does not know the last state. */
  readonly #unindexed: ReadonlySet<number>;
  /** Those of them that have the words, oldest first. */
  readonly recent: readonly number[];

  private constructor(
    deps: HitDeps,
    question: Omit<WordQuestion, 'from' | 'to'> | null,
    unindexed: ReadonlySet<number>,
    recent: readonly number[],
  ) {
    this.#deps = deps;
    this.#question = question;
    this.#unindexed = unindexed;
    this.recent = recent;
  }

  /** @throws `content_unavailable` while the index cannot answer for this folder */
  static async begin(
    { store, index }: HitDeps,
    accountId: AccountId,
    folder: Folder,
    terms: readonly SearchTerm[],
  ): Promise<FolderHits> {
    const { folderNumber, tail } = store.read(reader => ({
      folderNumber: folderNumberOf(reader, folder),
      tail: readTail(reader, accountId, folder),
    }));
    const question = folderNumber === null ? null : { accountId, folderNumber, terms };
    const unindexed = new Set(tail.map(({ seq }) => seq));
    const recent: number[] = [];
    let seen = 0;
    for (const { seq, change } of tail) {
      if (change === 'remove') continue;
      const words = store.read(reader => indexedWordsOf(reader, folder, seq));
      // The index has taken it in meanwhile, and is asked after this.
      if (words === null) unindexed.delete(seq);
      else if (hasTerms(words, terms)) recent.push(seq);
      seen += words?.length ?? 0;
      if (seen < UNITS_PER_TURN) continue;
      seen = 0;
      await nextTurn();
    }
    recent.sort((a, b) => a - b);
    return new FolderHits({ store, index }, question, unindexed, recent);
  }

  /** Hits from one end of a range on. */
  async find(range: HitRange): Promise<KnownHits & { readonly isWhole: boolean }> {
    const { from, to, isDescending, limit } = range;
    const within = new NumberSet();
    if (this.#question === null || to <= from || range.only?.length === 0) {
      return { within, from, to, isWhole: true };
    }
    const answer = await this.#deps.index.find({ ...range, ...this.#question });
    const { seqs, isWhole } = this.#foundIn(this.#question.accountId, answer);
    for (const seq of seqs) if (!this.#unindexed.has(seq)) within.add(seq);
    const last = isWhole || limit === 0 ? undefined : seqs.at(-1);
    const known = {
      from: last !== undefined && isDescending ? last : from,
      to: last !== undefined && !isDescending ? last + 1 : to,
    };
    for (const seq of this.recent) if (seq >= known.from && seq < known.to) within.add(seq);
    return { within, ...known, isWhole };
  }

  /**
   * The best of the newest hits of a range with their scores, best first, ties newest first. What the index has not
   * taken in yet has no score: it stands first.
   * @param only the numbers that are wanted, in ascending order; all by default
   */
  async rank(range: {
    readonly from: number;
    readonly to: number;
    readonly among: number;
    readonly only?: Uint32Array;
  }): Promise<{ readonly seqs: readonly number[]; readonly scores: readonly number[] }> {
    if (this.#question === null || range.to <= range.from) return { seqs: [], scores: [] };
    const { accountId } = this.#question;
    const answer = this.#foundIn(accountId, await this.#deps.index.rank({ ...range, ...this.#question }));
    const wanted = range.only === undefined ? null : new NumberSet(range.only);
    const seqs = this.recent
      .filter(seq => seq >= range.from && seq < range.to && wanted?.has(seq) !== false)
      .reverse();
    const scores = seqs.map(() => Number.NEGATIVE_INFINITY);
    for (const [at, seq] of answer.seqs.entries()) {
      if (this.#unindexed.has(seq)) continue;
      seqs.push(seq);
      scores.push(answer.scores[at] ?? 0);
    }
    return { seqs, scores };
  }

  #foundIn<Found>(accountId: AccountId, answer: WordAnswer<Found>): Found {
    if (answer.status === 'unavailable') {
      throw unavailable('The search index cannot answer just now.', answer.retryAfterS);
    }
    // It may have been begun anew since this search began.
    this.#deps.store.read(reader => refuseRebuilding(reader, accountId));
    return answer;
  }
}

function readTail(reader: Reader, accountId: AccountId, folder: Folder): readonly Unindexed[] {
  refuseRebuilding(reader, accountId);
  const tail = listUnindexed(reader, folder, MAX_TAIL.messages + 1);
  const bytes = tail.reduce((sum, entry) => sum + entry.bytes, 0);
  if (tail.length > MAX_TAIL.messages || bytes > MAX_TAIL.bytes) {
    throw unavailable(
      'More mail has come into this inbox than the search index has taken in yet.',
      RETRY_AFTER_S.behind,
    );
  }
  return tail;
}

/** Until an index is whole nobody is answered from it. */
function refuseRebuilding(reader: Reader, accountId: AccountId): void {
  if (searchStateOf(reader, accountId) === 'ready') return;
  throw unavailable('The search index of this account is being made anew.', RETRY_AFTER_S.rebuilding);
}

function unavailable(what: string, retryAfterS: number): Refusal {
  const message = `${what} Repeat the request in ${retryAfterS} seconds; lists without query are answered meanwhile.`;
  return new Refusal({ code: 'content_unavailable', message, retryAfterS });
}
