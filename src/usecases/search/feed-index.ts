import { randomInt } from 'node:crypto';
import type { AccountId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import type { Writer } from '../../store/engine/tables.js';
import { listDue } from '../../store/records/pending.js';
import {
  beginRebuild,
  clearChanges,
  forgetChange,
  forgetRestored,
  getSearch,
  type IndexChange,
  listChanges,
  listRestored,
  putSearch,
  type Rebuild,
  type SearchRecord,
  wordsOfChange,
} from '../../store/records/search.js';
import type { Clock, Logger } from '../ports.js';
import { firstPosition, type RebuildStep, stepOfRebuild } from './rebuild-walk.js';
import type { FeedOutcome, WordFeed } from './word-feed.js';

export interface FeedDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly feed: WordFeed;
  readonly log: Logger;
}

/** Bounds of one round, whose unit of work holds the loop for some milliseconds. */
const ROUND = { accounts: 64, messages: 256, bytes: 1024 * 1024 } as const;
/** An account's share of a round: each batch costs a flush to disk, and small ones make more work later. */
const SHARE = { messages: 128, bytes: 512 * 1024 } as const;
/** Taking the words of a message out of the index takes so many times as long as putting them in. */
const REMOVAL_WORK = 8;
/** An account whose index could not be written is left alone for so long. */
const PAUSE_MS = 2_000;
const MARKS = 2 ** 47;

/** What one account's index is told in a round. */
interface Told {
  readonly accountId: AccountId;
  readonly record: SearchRecord;
  readonly mark: number;
  readonly changes: readonly IndexChange[];
  readonly step: RebuildStep | null;
  /** There is no room but what was promised to mail: words that come wait, only words that go are told. */
  readonly isWaiting: boolean;
}

/**
 * Brings the indexes of all accounts up to date with the store: in rounds, in which each account has its share, until
 * nothing is due. The index has taken a batch to disk before the store forgets it; a process that ends in between tells
 * it again, which changes nothing. Rounds follow one another, so that what is erased while a step of a rebuild reads it
 * is taken out by a later one.
 * @param shouldStop asked between rounds
 */
export async function feedIndexes(deps: FeedDeps, shouldStop: () => boolean): Promise<void> {
  while (!shouldStop() && (await feedSome(deps)));
}

/** @returns whether something was due */
async function feedSome(deps: FeedDeps): Promise<boolean> {
  const { store, clock, feed } = deps;
  const due = store.read(reader => listDue(reader, 'index', clock(), ROUND.accounts));
  if (due.length === 0) return false;
  const round: Told[] = [];
  let left: number = ROUND.messages;
  let leftBytes: number = ROUND.bytes;
  let isRebuilding = false;
  for (const { work } of due) {
    // One rebuild at a time goes on, the one that has waited longest.
    const told = await prepare(deps, work.id, Math.min(left, SHARE.messages), !isRebuilding);
    if (told === null) continue;
    left -= told.changes.length;
    for (const { value } of told.changes) leftBytes -= value.length;
    isRebuilding ||= told.record.rebuild !== null;
    round.push(told);
    if (left <= 0 || leftBytes <= 0) break;
  }
  const outcomes = await Promise.all(round.map(told => tell(feed, told)));
  await store.write(writer => {
    for (const [place, told] of round.entries()) {
      const outcome = outcomes[place];
      if (outcome !== undefined) settle(writer, deps, told, outcome);
    }
  }, 'settle');
  return true;
}

async function prepare(
  { store }: FeedDeps,
  accountId: AccountId,
  share: number,
  mayRebuild: boolean,
): Promise<Told | null> {
  const record = store.read(reader => getSearch(reader, accountId));
  if (record === undefined) return null;
  const mark = randomInt(1, MARKS);
  const at = record.rebuild?.at;
  const told = { accountId, record, mark };
  if (at?.phase === 'clear') return { ...told, changes: [], step: null, isWaiting: false };
  const found = store.read(reader => listChanges(reader, accountId, null, share));
  if (!store.room.hasRoomFor(0)) {
    const removed = found.filter(change => wordsOfChange(change) === null);
    return { ...told, changes: shareOf(removed, share), step: null, isWaiting: true };
  }
  const step = at === undefined || !mayRebuild ? null : await stepOfRebuild(store, accountId, at);
  return { ...told, changes: shareOf(found, share), step, isWaiting: false };
}

function hasNews({ changes, step }: Told): boolean {
  return changes.length > 0 || step !== null;
}

/** As many as are the share of the account in a round, but one at least. */
function shareOf(changes: readonly IndexChange[], share: number): readonly IndexChange[] {
  let bytes = 0;
  let work = 0;
  const end = changes.findIndex(change => {
    bytes += change.value.length;
    work += wordsOfChange(change) === null ? REMOVAL_WORK : 1;
    return bytes > SHARE.bytes || work > share;
  });
  return end < 0 ? changes : changes.slice(0, Math.max(1, end));
}

async function tell(feed: WordFeed, told: Told): Promise<FeedOutcome> {
  if (!hasNews(told)) return { status: 'applied', isErased: true };
  const { accountId, record, mark, changes, step } = told;
  const ready = changes.map(change => ({ row: change.row, words: wordsOfChange(change) }));
  return feed.apply({
    accountId,
    from: record.mark,
    to: mark,
    changes: [...ready, ...(step?.changes ?? [])],
  });
}

/** Writes down what has become of a batch. */
function settle(writer: Writer, { clock, log }: FeedDeps, told: Told, outcome: FeedOutcome): void {
  const { accountId, record, changes } = told;
  const nowMs = clock();
  const current = getSearch(writer, accountId);
  // A rebuild was asked for meanwhile: what this batch told does not count.
  const isOverrun = current?.mark !== record.mark || current.rebuild?.since !== record.rebuild?.since;
  if (current === undefined || isOverrun) return;
  if (outcome.status === 'failed') {
    log.warn({ account_id: accountId, reason: outcome.reason }, 'the search index could not be written');
    putSearch(writer, accountId, current, { ...current, dueAt: nowMs + PAUSE_MS });
    return;
  }
  if (outcome.status === 'lost') {
    lose(writer, log, accountId, outcome.reason, nowMs);
    return;
  }
  for (const change of changes) {
    if (outcome.isErased || wordsOfChange(change) !== null) forgetChange(writer, accountId, change);
  }
  const rebuild = current.rebuild === null ? null : advance(writer, told, current.rebuild);
  if (current.rebuild !== null && rebuild === null) {
    const { done, reason } = current.rebuild;
    log.info({ account_id: accountId, reason, messages: done }, 'a search index was made anew');
  }
  const hasMore = rebuild !== null || listChanges(writer, accountId, null, 1).length > 0;
  putSearch(writer, accountId, current, {
    ...current,
    mark: hasNews(told) ? told.mark : current.mark,
    // Behind all that are due, so that accounts take turns.
    dueAt: hasMore ? nowMs + (told.isWaiting ? PAUSE_MS : 0) : null,
    rebuild,
  });
}

/** Where the rebuild has come to; null at its end. */
function advance(writer: Writer, { accountId, step }: Told, rebuild: Rebuild): Rebuild | null {
  if (rebuild.at.phase === 'clear') {
    const isClear = clearChanges(writer, accountId, ROUND.messages) < ROUND.messages;
    return isClear ? { ...rebuild, at: firstPosition(writer, accountId) } : rebuild;
  }
  if (step === null) return rebuild;
  for (const row of step.restored) forgetRestored(writer, accountId, row);
  const done = rebuild.done + step.looked;
  if (step.next !== null) return { ...rebuild, done, at: step.next };
  return listRestored(writer, accountId, 1).length === 0 ? null : { ...rebuild, done };
}

function lose(writer: Writer, log: Logger, accountId: AccountId, reason: string, nowMs: number): void {
  log.warn(
    { account_id: accountId, reason },
    'the search index of an account cannot be used: it is made anew from the stored mail',
  );
  beginRebuild(writer, accountId, reason, nowMs);
}

/** Somebody who searched has found that the index of an account cannot be used. */
export async function noteLostIndex(
  { store, clock, log }: Omit<FeedDeps, 'feed'>,
  accountId: AccountId,
  reason: string,
): Promise<void> {
  await store.write(writer => {
    if (getSearch(writer, accountId)?.rebuild === null) lose(writer, log, accountId, reason, clock());
  }, 'settle');
}
