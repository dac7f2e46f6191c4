import type { AccountId } from '../../../src/domain/ids.js';
import type { MessageWords } from '../../../src/domain/message-words.js';
import type { SearchTerm } from '../../../src/domain/search-words.js';
import type { Store } from '../../../src/store/engine/store.js';
import { forgetChange, listChanges, placeOfRow, wordsOfChange } from '../../../src/store/records/search.js';
import type {
  WordAnswer,
  WordHits,
  WordIndex,
  WordQuestion,
} from '../../../src/usecases/search/word-index.js';
import { fits, splitWords } from './naive-words.js';

/** What a word index does, without any cleverness: it looks at every message. Takes in changes when it is told to. */
export class NaiveIndex implements WordIndex {
  readonly #accounts = new Map<AccountId, Map<number, Map<number, MessageWords>>>();
  /** What was asked, in order. */
  readonly asked: string[] = [];
  /** Hits that it tells at a time. */
  most = Number.POSITIVE_INFINITY;
  /** Called before each answer, as time goes by meanwhile. */
  before: () => Promise<void> = async () => {};

  /** Takes in up to `limit` changes of an account. */
  async takeIn(store: Store, accountId: AccountId, limit = 10_000): Promise<void> {
    const changes = store.read(reader => listChanges(reader, accountId, null, limit));
    const folders = this.#accounts.get(accountId) ?? new Map<number, Map<number, MessageWords>>();
    this.#accounts.set(accountId, folders);
    for (const change of changes) {
      const { folderNumber, seq } = placeOfRow(change.row);
      const words = wordsOfChange(change);
      const folder = folders.get(folderNumber) ?? new Map<number, MessageWords>();
      folders.set(folderNumber, folder);
      if (words === null) folder.delete(seq);
      else folder.set(seq, splitWords(words.toString('utf8')));
    }
    await store.write(writer => {
      for (const change of changes) forgetChange(writer, accountId, change);
    });
  }

  /** It has nothing that a kill could tear. */
  async dieAmidTakingIn(): Promise<void> {}

  /** It has nothing that could be lost. */
  async loseAndHeal(): Promise<void> {}

  async find(question: Parameters<WordIndex['find']>[0]): Promise<WordAnswer<WordHits>> {
    this.asked.push('find');
    await this.before();
    const { isDescending } = question;
    const limit = Math.min(question.limit, this.most);
    const all = this.#hits(question).map(({ seq }) => seq);
    if (!isDescending) all.reverse();
    return {
      status: 'found',
      seqs: Uint32Array.from(all.slice(0, limit)),
      isWhole: all.length <= limit,
    };
  }

  async rank(question: Parameters<WordIndex['rank']>[0]): ReturnType<WordIndex['rank']> {
    this.asked.push('rank');
    await this.before();
    const all = this.#hits(question);
    const ranked = all
      .slice(0, question.among)
      .map(({ seq, words }) => ({ seq, score: -scoreOf(words, question.terms) }))
      .sort((a, b) => a.score - b.score || b.seq - a.seq);
    return {
      status: 'found',
      seqs: Uint32Array.from(ranked.map(({ seq }) => seq)),
      scores: Float64Array.from(ranked.map(({ score }) => score)),
      isWhole: all.length <= question.among,
    };
  }

  /** Newest first. */
  #hits({ accountId, folderNumber, terms, from, to, only }: WordQuestion) {
    const folder = this.#accounts.get(accountId)?.get(folderNumber) ?? new Map<number, MessageWords>();
    return [...folder]
      .map(([seq, words]) => ({ seq, words }))
      .filter(({ seq }) => seq >= from && seq < to && only?.includes(seq) !== false)
      .filter(({ words }) => fits([words.subject, words.body], terms))
      .sort((a, b) => b.seq - a.seq);
  }
}

/** How often the words of the terms stand in a message. */
export function scoreOf({ subject, body }: MessageWords, terms: readonly SearchTerm[]): number {
  const asked = new Set(terms.flatMap(({ words }) => words));
  return [...subject, ...body].filter(word => asked.has(word)).length;
}
