import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { openIndex } from '../../../src/app/open-index.js';
import type { AccountId } from '../../../src/domain/ids.js';
import { parseSearch } from '../../../src/domain/search-words.js';
import { answerWith } from '../../../src/search/answer-requests.js';
import { OpenIndexes } from '../../../src/search/open-indexes.js';
import { searchFolder, WordThreads } from '../../../src/search/word-threads.js';
import type { Store } from '../../../src/store/engine/store.js';
import type { Folder } from '../../../src/store/mailbox/folders.js';
import { privateFolder } from '../../../src/store/private-files.js';
import { folderNumberOf, getSearch } from '../../../src/store/records/search.js';
import type { Clock, Logger } from '../../../src/usecases/ports.js';
import { feedIndexes, noteLostIndex } from '../../../src/usecases/search/feed-index.js';
import type { WordFeed } from '../../../src/usecases/search/word-feed.js';
import type { WordIndex } from '../../../src/usecases/search/word-index.js';
import { silent } from '../usecases/with-house.js';

/** The real index over a store, which is fed when a test says so. */
export interface FedIndex {
  readonly index: WordIndex;
  /** Tells the indexes all that they have to learn. */
  readonly feed: () => Promise<void>;
  /** Reasons for which indexes had to be made anew. */
  readonly lost: string[];
  readonly stop: () => Promise<void>;
}

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log?: Logger;
}

export function withIndex(t: Test, { store, clock, log = silent }: Deps): FedIndex {
  const lost: string[] = [];
  const hearing: Logger = {
    ...log,
    warn: (fields, message) => {
      if (/made anew/.test(message)) lost.push((fields as { reason: string }).reason);
      log.warn(fields, message);
    },
  };
  const deps = { store, clock, log: hearing };
  const noting = new Set<Promise<void>>();
  const threads = new WordThreads({
    store,
    log: hearing,
    onLost: (accountId, reason) => {
      const note = noteLostIndex(deps, accountId, reason).finally(() => noting.delete(note));
      noting.add(note);
    },
  });
  threads.start();
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await threads.stop();
  };
  t.teardown(stop);
  return {
    index: threads,
    feed: async () => {
      await Promise.all(noting);
      await feedIndexes({ ...deps, feed: threads }, () => false);
    },
    lost,
    stop,
  };
}

/** Numbers of the messages of a folder in which the index finds the words, newest first. */
export async function found(
  index: WordIndex,
  store: Store,
  accountId: AccountId,
  folder: Folder,
  query: string,
): Promise<number[] | 'unavailable'> {
  const folderNumber = store.read(reader => folderNumberOf(reader, folder)) ?? 0;
  const terms = parseSearch(query);
  const range = { from: 0, to: 2 ** 32 - 1, isDescending: true, limit: 100_000 };
  const answer = await index.find({ accountId, folderNumber, terms, ...range });
  return answer.status === 'found' ? [...answer.seqs] : answer.status;
}

/** The same by a command beside the daemon. */
export async function foundBeside(
  store: Store,
  accountId: AccountId,
  folder: Folder,
  query: string,
): Promise<number[] | 'unavailable'> {
  const index = await openIndex(store);
  try {
    return await found(index, store, accountId, folder, query);
  } finally {
    index.close();
  }
}

/** Files of the search folder, by name, with all that is in them. */
export function rawFiles(store: Store): ReadonlyMap<string, Buffer> {
  const folder = searchFolder(store.path);
  return new Map(readdirSync(folder).map(name => [name, readFileSync(join(folder, name))]));
}

/** Resolves when no index is made anew any more, and none has anything to learn. */
export async function untilFed(store: Store, accountId: AccountId): Promise<void> {
  for (;;) {
    const record = store.read(reader => getSearch(reader, accountId));
    if (record !== undefined && record.dueAt === null) return;
    await delay(20);
  }
}

/** Has the indexes told what they have to learn, in this process: for tests of what else is pending. */
export async function indexAll({ store, clock }: Deps): Promise<void> {
  const indexes = new OpenIndexes(privateFolder(searchFolder(store.path)), 'write', 4);
  const feed: WordFeed = {
    apply: async batch => {
      const { answer } = answerWith(indexes, { kind: 'apply', id: 0, ...batch });
      if (answer.kind !== 'applied') throw new Error(`the index was not told: ${JSON.stringify(answer)}`);
      return { status: 'applied', isErased: answer.isErased };
    },
  };
  await feedIndexes({ store, clock, log: silent, feed }, () => false);
  indexes.closeAll();
}
