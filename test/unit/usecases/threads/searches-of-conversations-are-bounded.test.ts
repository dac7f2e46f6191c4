import type { Test } from 'tap';
import t from 'tap';
import type { ThreadSummary } from '../../../../src/contract/threads.js';
import type { InboxId } from '../../../../src/domain/ids.js';
import { foldCase, type MessageFilter, NO_FILTER } from '../../../../src/domain/message-filter.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import type { MemberPosition } from '../../../../src/store/threads/members.js';
import { type SearchBounds, ThreadSearch } from '../../../../src/usecases/threads/find-threads.js';
import { countingWriter } from '../../store/threads/counting-writer.js';
import { type House, withHouse } from '../with-house.js';
import { putSent } from '../with-sent.js';
import { threadsOf } from './with-threads.js';

const LARGE = 350;
const ALONE = 240;
const SMALL: SearchBounds = { few: 0, looksPerTurn: 50, looksPerPage: 200 };

/** A large conversation amid many of one message, all `common`, every hundredth `rare`. */
async function withMany(t: Test) {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const put = (n: number, references: string[]) => {
    const labels = n % 100 === 7 ? ['common', 'rare'] : ['common'];
    return putSent(house.store, inbox, n, { references, labels, subject: n % 2 === 0 ? 'Even' : 'Odd' });
  };
  await Promise.all(Array.from({ length: ALONE / 2 }, (_, n) => put(n, [])));
  await Promise.all(Array.from({ length: LARGE }, (_, n) => put(1_000 + n, ['root@x'])));
  await Promise.all(Array.from({ length: ALONE / 2 }, (_, n) => put(2_000 + n, [])));
  return { house, inbox };
}

interface Searched {
  readonly threads: ThreadSummary[];
  readonly pages: number;
  readonly turns: number;
  /** Reads in one turn, at most. */
  readonly most: number;
}

/** Walks all pages, counting what each turn reads. */
function search({ store }: House, inbox: InboxId, filter: MessageFilter, isDescending: boolean): Searched {
  const threads: ThreadSummary[] = [];
  let [pages, turns, most] = [0, 0, 0];
  let position: MemberPosition | null = null;
  do {
    const walk: ThreadSearch = new ThreadSearch(inbox, filter, { isDescending, limit: 30, position }, SMALL);
    for (let isDone = false; !isDone; turns++) {
      isDone = store.read(reader => {
        // Only its reads are asked for.
        const counting = countingWriter(reader as Writer);
        const state = walk.advance(counting.writer);
        most = Math.max(most, counting.count());
        return state === 'done';
      });
    }
    const found = walk.result();
    threads.push(...found.threads);
    position = found.next;
    pages += 1;
  } while (position !== null);
  return { threads, pages, turns, most };
}

const labelled = (label: string): MessageFilter => ({
  ...NO_FILTER,
  labels: { all: [label], any: [], none: [] },
});

t.test('pages are short, turns are short, and together they are the whole answer', async t => {
  const { house, inbox } = await withMany(t);
  for (const [what, filter, conversations, inLarge] of [
    [
      'a subject that half of them have',
      { ...NO_FILTER, subject: foldCase('even') },
      ALONE / 2 + 1,
      LARGE / 2,
    ],
    ['a subject that none has', { ...NO_FILTER, subject: foldCase('nobody') }, 0, 0],
    ['a label that all have', labelled('common'), ALONE + 1, LARGE],
    ['a rare label', labelled('rare'), 4 + 1, 4],
    ['an instant within the large one', { ...NO_FILTER, before: 1_010 }, ALONE / 2 + 1, 10],
  ] as const) {
    for (const isDescending of [true, false]) {
      const { threads, pages, turns, most } = search(house, inbox, filter, isDescending);
      t.equal(threads.length, conversations, what);
      t.equal(new Set(threads.map(({ id }) => id)).size, conversations, `${what}: none twice`);
      const large = threads.find(({ message_count }) => message_count === LARGE);
      t.equal(large?.matching_message_count ?? 0, inLarge, `${what}: members of the large one`);
      t.equal(large?.matching_message_ids?.length ?? 0, Math.min(inLarge, 100));
      const times = threads.map(({ last_activity_at }) => last_activity_at);
      t.strictSame(
        times,
        isDescending ? [...times].sort().reverse() : [...times].sort(),
        `${what}: in order`,
      );
      t.ok(most <= 400, `${what}: ${most} reads a turn, ${turns} turns, ${pages} pages`);
    }
  }
});

t.test('what changes between two turns neither stops a search nor is told wrong', async t => {
  const { house, inbox } = await withMany(t);
  const filter = { ...NO_FILTER, subject: foldCase('odd') };
  const before = await threadsOf(house, inbox, filter);
  const page = { isDescending: true, limit: 60, position: null };
  const walk = new ThreadSearch(inbox, filter, page, { ...SMALL, looksPerPage: 100_000 });
  // Into the middle of the large conversation, which then becomes the latest.
  for (let turn = 0; turn < 8; turn++)
    t.equal(
      house.store.read(reader => walk.advance(reader)),
      'more',
    );
  await putSent(house.store, inbox, 9_000, { references: ['root@x'], subject: 'Odd' });
  while (house.store.read(reader => walk.advance(reader)) !== 'done');
  const { threads } = walk.result();
  const ids = threads.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length);
  const large = before.find(({ message_count }) => message_count === LARGE)?.id;
  t.strictSame(
    ids.filter(id => id !== large),
    before
      .map(({ id }) => id)
      .filter(id => id !== large)
      .slice(0, ids.filter(id => id !== large).length),
    'all others stand where they stood',
  );
});
