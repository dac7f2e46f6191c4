import { type AccountId, idFromBytes } from '../../domain/ids.js';
import { WORDS_VERSION } from '../../domain/search-words.js';
import { range, WHOLE_TABLE } from '../../store/engine/keys.js';
import type { Entry, Scan } from '../../store/engine/tables.js';
import { beginRebuild, type SearchRecord, searchAccountsTable } from '../../store/records/search.js';
import type { FeedDeps } from './feed-index.js';

/** Accounts of one read, and of one unit of work. */
const PER_UNIT = 200;

/** At boot: indexes whose words were made by other rules than today's are made anew. @returns how many */
export async function recoverIndexes({ store, clock }: Pick<FeedDeps, 'store' | 'clock'>): Promise<number> {
  let count = 0;
  let after: Buffer | null = null;
  for (;;) {
    const rest: Scan = { ...range(WHOLE_TABLE, after), limit: PER_UNIT };
    const page: readonly Entry<SearchRecord>[] = store.read(reader => reader.scan(searchAccountsTable, rest));
    const old = page.filter(({ value }) => value.words !== WORDS_VERSION);
    if (old.length > 0) {
      await store.write(writer => {
        for (const { key } of old) {
          beginRebuild(writer, idFromBytes<AccountId>(key), 'words are made by new rules', clock());
        }
      }, 'settle');
    }
    count += old.length;
    after = page.at(-1)?.key ?? null;
    if (page.length < PER_UNIT) return count;
  }
}
