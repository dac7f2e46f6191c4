import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountId } from '../domain/ids.js';
import type { Store } from '../store/engine/store.js';
import { privateFolder } from '../store/private-files.js';
import { getSearch } from '../store/records/search.js';
import type { Logger } from '../usecases/ports.js';
import type { FeedOutcome, WordBatch, WordFeed } from '../usecases/search/word-feed.js';
import type {
  RankedHits,
  WordAnswer,
  WordHits,
  WordIndex,
  WordQuestion,
} from '../usecases/search/word-index.js';
import { removeIndex } from './account-index.js';
import { indexPath, SUFFIX } from './open-indexes.js';
import type { FindRequest, IndexSetup, RankRequest, ThreadAnswer, ThreadChange } from './protocol.js';
import { QuestionQueue } from './question-queue.js';
import { rowsOf, seqsOf } from './rows.js';
import { Strides } from './strides.js';
import { IndexThread } from './thread-life.js';

/** Indexes that each thread keeps open: the one that writes, the one that finds, the one that ranks. */
const MAX_OPEN = { write: 32, find: 32, rank: 8 } as const;
/** Files of one open index: itself, its log, and what the threads share of that. */
const FILES = 3;

/** Descriptors that the index may take. */
export const SEARCH_FILES = (MAX_OPEN.write + MAX_OPEN.find + MAX_OPEN.rank) * FILES;
/** Memory that the index may take: the heaps of its threads, pages of open files, and batches on their way. */
export const SEARCH_BYTES = 256 * 2 ** 20;

/** Seconds after which a question may be asked again: the index is being made anew; it is only busy. */
const RETRY_AFTER_S = { rebuilding: 30, busy: 1 } as const;

export interface WordThreadsOptions {
  readonly store: Store;
  readonly log: Logger;
  /** The index of an account cannot be used: it has to be made anew. */
  readonly onLost: (accountId: AccountId, reason: string) => void;
}

/** Folder of the indexes inside a data directory. */
export function searchFolder(path: string): string {
  return join(path, 'search');
}

/**
 * The search index: a file for each account, a thread that writes, one that finds and one that ranks. The main thread
 * waits for none of them, and who lists by time does not wait for rankings: of many words in a large inbox one takes half
 * a second, which nothing can interrupt.
 */
export class WordThreads implements WordIndex, WordFeed {
  readonly #options: WordThreadsOptions;
  readonly #directory: string;
  readonly #writer: IndexThread;
  readonly #finder: Asking;
  readonly #ranker: Asking;

  constructor(options: WordThreadsOptions) {
    const { store, log } = options;
    this.#options = options;
    this.#directory = searchFolder(store.path);
    const thread = (role: IndexSetup['role']) =>
      new IndexThread({ setup: { directory: this.#directory, maxOpen: MAX_OPEN[role], role }, log });
    this.#writer = thread('write');
    this.#finder = { thread: thread('find'), questions: new QuestionQueue() };
    this.#ranker = { thread: thread('rank'), questions: new QuestionQueue() };
  }

  /** Starts the threads, and removes what belongs to no account. */
  start(): void {
    privateFolder(this.#directory);
    this.#removeStrangers();
    for (const thread of this.#threads()) thread.start();
  }

  /** Resolves when every file is closed. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads().map(thread => thread.stop()));
  }

  #threads(): readonly IndexThread[] {
    return [this.#writer, this.#finder.thread, this.#ranker.thread];
  }

  #removeStrangers(): void {
    const { store } = this.#options;
    for (const name of readdirSync(this.#directory)) {
      if (!name.endsWith(SUFFIX)) continue;
      const accountId = name.slice(0, -SUFFIX.length) as AccountId;
      const isKnown = store.read(reader => getSearch(reader, accountId) !== undefined);
      if (!isKnown) removeIndex(indexPath(this.#directory, accountId));
    }
  }

  async apply({ accountId, from, to, changes }: WordBatch): Promise<FeedOutcome> {
    const answer = await this.#writer.ask(
      { kind: 'apply', accountId, from, to, changes: changes satisfies readonly ThreadChange[] },
      [],
    );
    if (answer.kind === 'applied') return { status: 'applied', isErased: answer.isErased };
    if (answer.kind === 'lost') return { status: 'lost', reason: answer.reason };
    return { status: 'failed', reason: reasonIn(answer) };
  }

  async find(
    question: WordQuestion & { readonly isDescending: boolean; readonly limit: number },
  ): Promise<WordAnswer<WordHits>> {
    const { isDescending, limit } = question;
    const strides = new Strides(question, isDescending);
    const seqs: number[] = [];
    for (let range = strides.first; range !== null; ) {
      const left = limit - seqs.length;
      const answer = await this.#ask(this.#finder, { ...question, ...range }, asked => {
        return { kind: 'find', ...asked, isDescending, limit: left };
      });
      if (answer.kind !== 'found') return answer.answer;
      for (const seq of seqsOf(answer.rows)) seqs.push(seq);
      if (!answer.isWhole) return { status: 'found', seqs: Uint32Array.from(seqs), isWhole: false };
      range = strides.behind(range, answer.tookMs);
    }
    return { status: 'found', seqs: Uint32Array.from(seqs), isWhole: true };
  }

  async rank(question: WordQuestion & { readonly among: number }): Promise<WordAnswer<RankedHits>> {
    const { among } = question;
    const answer = await this.#ask(this.#ranker, question, asked => ({ kind: 'rank', ...asked, among }));
    if (answer.kind !== 'found') return answer.answer;
    const scores = answer.scores ?? new Float64Array(0);
    return { status: 'found', seqs: seqsOf(answer.rows), scores, isWhole: answer.isWhole };
  }

  async #ask(asking: Asking, question: WordQuestion, make: MakeRequest): Promise<Found | Unanswered> {
    const { accountId } = question;
    const asked = { accountId, ...rowsOf(question) };
    const answer = await asking.questions.ask(accountId, async () => {
      const first = await this.#askThread(asking.thread, asked, make);
      if (first.kind !== 'suspect') return first;
      // Only the thread that writes can tell, because it is told no more meanwhile.
      const { mark } = this.#knownOf(accountId);
      const check = await this.#writer.ask({ kind: 'check', accountId, mark });
      return check.kind === 'sound' ? this.#askThread(asking.thread, asked, make) : check;
    });
    if (answer?.kind === 'unanswered') return answer;
    if (answer?.kind === 'lost') this.#options.onLost(accountId, answer.reason);
    // It may have been made anew meanwhile: then this was its beginning.
    const isWhole = answer?.kind === 'found' && !this.#knownOf(accountId).isRebuilding;
    return isWhole ? answer : unanswered(RETRY_AFTER_S.busy);
  }

  async #askThread(
    thread: IndexThread,
    asked: Omit<Asked, 'mark'>,
    make: MakeRequest,
  ): Promise<ThreadAnswer | Unanswered> {
    const { mark, isRebuilding } = this.#knownOf(asked.accountId as AccountId);
    if (isRebuilding) return unanswered(RETRY_AFTER_S.rebuilding);
    return mark === 0 ? NOTHING : thread.ask(make({ ...asked, mark }));
  }

  #knownOf(accountId: AccountId): { readonly mark: number; readonly isRebuilding: boolean } {
    const record = this.#options.store.read(reader => getSearch(reader, accountId));
    return { mark: record?.mark ?? 0, isRebuilding: record !== undefined && record.rebuild !== null };
  }
}

/** A thread that answers questions, and those that wait for it. */
interface Asking {
  readonly thread: IndexThread;
  readonly questions: QuestionQueue;
}

type Asked = Omit<FindRequest, 'id' | 'kind' | 'isDescending' | 'limit'>;
type MakeRequest = (asked: Asked) => Omit<FindRequest, 'id'> | Omit<RankRequest, 'id'>;
type Found = Extract<ThreadAnswer, { readonly kind: 'found' }>;
interface Unanswered {
  readonly kind: 'unanswered';
  readonly answer: Extract<WordAnswer<object>, { readonly status: 'unavailable' }>;
}

const NOTHING: Found = {
  kind: 'found',
  rows: new Float64Array(0),
  scores: new Float64Array(0),
  isWhole: true,
  tookMs: 0,
};

function unanswered(retryAfterS: number): Unanswered {
  return { kind: 'unanswered', answer: { status: 'unavailable', retryAfterS } };
}

function reasonIn(answer: ThreadAnswer): string {
  return 'reason' in answer ? answer.reason : `it answered ${answer.kind}`;
}
