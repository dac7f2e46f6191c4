import { type AccountId, idFromBytes, idToBytes } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { range, WHOLE_TABLE } from '../../store/engine/keys.js';
import type { Store } from '../../store/engine/store.js';
import { type Reader, type Scan, walkTable } from '../../store/engine/tables.js';
import { oldestDueAge } from '../../store/records/pending.js';
import {
  beginRebuild,
  getSearch,
  type SearchRecord,
  searchAccountsTable,
  unindexedTable,
} from '../../store/records/search.js';
import type { Clock } from '../ports.js';

/** How far the search indexes are. */
export interface SearchStatus {
  /** Accounts that have an index. */
  readonly accounts: number;
  /** Messages whose last change is not in an index yet; counted up to `MAX_WAITING`. */
  readonly waiting: number;
  /** For how long the index that waits longest has had work; null when none has. */
  readonly oldest_age_s: number | null;
  /** Indexes that are made anew, at most `MAX_NAMED` of them. */
  readonly rebuilding: readonly {
    readonly account_id: AccountId;
    readonly since: string;
    readonly reason: string;
    /** Messages so far. */
    readonly messages: number;
  }[];
}

export const MAX_WAITING = 10_000;
export const MAX_NAMED = 1_000;
const PAGE = 1_000;

/** How the search indexes are, as the store tells it. */
export function readSearchStatus(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  accountId: AccountId | null = null,
): SearchStatus {
  return store.read(reader => searchStatusOf(reader, clock(), accountId));
}

/** The same in a read that is under way. */
export function searchStatusOf(reader: Reader, nowMs: number, accountId: AccountId | null): SearchStatus {
  const rebuilding: SearchStatus['rebuilding'][number][] = [];
  let accounts = 0;
  for (const [id, { rebuild }] of searchRecords(reader, accountId)) {
    accounts += 1;
    if (rebuild === null || rebuilding.length >= MAX_NAMED) continue;
    const { since, reason, done } = rebuild;
    rebuilding.push({ account_id: id, since: toInstant(since), reason, messages: done });
  }
  const all = range(accountId === null ? WHOLE_TABLE : idToBytes(accountId));
  const oldestMs = oldestDueAge(reader, 'index', nowMs);
  return {
    accounts,
    waiting: reader.scanKeys(unindexedTable, { ...all, limit: MAX_WAITING }).length,
    oldest_age_s: oldestMs === null ? null : Math.max(0, Math.floor(oldestMs / 1000)),
    rebuilding,
  };
}

function* searchRecords(
  reader: Reader,
  accountId: AccountId | null,
): Generator<readonly [AccountId, SearchRecord]> {
  if (accountId !== null) {
    const record = getSearch(reader, accountId);
    if (record !== undefined) yield [accountId, record];
    return;
  }
  for (const { key, value } of walkTable(reader, searchAccountsTable))
    yield [idFromBytes<AccountId>(key), value];
}

/**
 * Has the index of one account, or of all, made anew from what is stored; a daemon does it in the background. Until then
 * searches of the account are answered with `content_unavailable`.
 * @returns how many
 */
export async function rebuildIndexes(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  accountId: AccountId | null,
): Promise<{ readonly accounts: number }> {
  if (accountId !== null) {
    await store.write(writer => beginRebuild(writer, accountId, ASKED, clock()), 'settle');
    return { accounts: 1 };
  }
  let accounts = 0;
  let after: Buffer | null = null;
  for (;;) {
    const rest: Scan = { ...range(WHOLE_TABLE, after), limit: PAGE };
    const page: readonly Buffer[] = await store.write(writer => {
      const keys = writer.scanKeys(searchAccountsTable, rest);
      for (const key of keys) beginRebuild(writer, idFromBytes<AccountId>(key), ASKED, clock());
      return keys;
    }, 'settle');
    accounts += page.length;
    after = page.at(-1) ?? null;
    if (page.length < PAGE) return { accounts };
  }
}

const ASKED = 'an admin asked for it';
