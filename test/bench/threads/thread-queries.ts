import { foldCase, type MessageFilter, NO_FILTER } from '../../../src/domain/message-filter.js';
import { CursorCodec } from '../../../src/domain/paging.js';
import { listThreads } from '../../../src/usecases/threads/list-threads.js';
import { getThreadDetail } from '../../../src/usecases/threads/read-thread.js';
import { correspondent, HALVES, OLDEST, RARE, TOPICS } from '../mailbox/mailbox-generator.js';
import { filterOf, middleOf, type Place, type Query } from '../mailbox/mailbox-queries.js';

const cursors = new CursorCodec(Buffer.alloc(32, 1).toString('base64'));

type FilterAt = (place: Place) => MessageFilter;

const everything: FilterAt = () => NO_FILTER;
const onHalf: FilterAt = () => filterOf({ all: [HALVES.even] });

const FILTERS: readonly (readonly [string, FilterAt])[] = [
  ['one label, on half', onHalf],
  ['one label, rare', () => filterOf({ all: [RARE.label] })],
  ['one label, on the oldest only', () => filterOf({ all: [OLDEST.label] })],
  ['both of two halves that share nothing', () => filterOf({ all: [HALVES.even, HALVES.odd] })],
  ['none of 32', () => filterOf({ none: TOPICS })],
  ['from a frequent sender', () => filterOf({}, { from: correspondent(0) })],
];

/** These read as many conversations as a page can have. */
const SEARCHES: readonly (readonly [string, FilterAt])[] = [
  ['before the middle', place => filterOf({}, { before: middleOf(place) })],
  ['subject that all have', () => filterOf({}, { subject: foldCase('quarter') })],
  ['subject that none has', () => filterOf({}, { subject: foldCase('nobody wrote') })],
];

export interface ThreadList {
  readonly name: string;
  readonly kind: 'list' | 'filter' | 'search';
  readonly query: Query;
}

export const THREAD_LISTS: readonly ThreadList[] = [
  list('list', 'everything', everything),
  list('list', 'next page', everything, { isNext: true }),
  list('list', 'oldest first', everything, { order: 'oldest' }),
  list('list', 'page of 100', everything, { limit: 100 }),
  ...FILTERS.map(([name, filter]) => list('filter', name, filter)),
  list('filter', 'page of 100, one label, on half', onHalf, { limit: 100 }),
  ...SEARCHES.map(([name, filter]) => list('search', name, filter)),
];

interface ListShape {
  readonly isNext?: boolean;
  readonly order?: 'newest' | 'oldest';
  readonly limit?: number;
}

function list(
  kind: ThreadList['kind'],
  name: string,
  filterAt: FilterAt,
  { isNext = false, order = 'newest', limit = 20 }: ListShape = {},
): ThreadList {
  const ask = async (place: Place, cursor: string | null) =>
    await listThreads({ ...place, cursors }, { ...place, filter: filterAt(place), order, limit, cursor });
  const cursorsAt = new Map<Place, string | null>();
  const query: Query = {
    name: `list: ${name}`,
    kind: 'page',
    ask: async place => {
      if (!isNext) return ask(place, null);
      if (!cursorsAt.has(place)) cursorsAt.set(place, (await ask(place, null)).next_cursor);
      return ask(place, cursorsAt.get(place) ?? null);
    },
  };
  return { name: query.name, kind, query };
}

/** Pages of one conversation, contents read to their end. */
export function detailQueries(threadId: string): Query[] {
  const open = (place: Place, limit: number, cursor: string | null) =>
    getThreadDetail({ ...place, cursors }, { accountId: place.accountId, threadId, limit, cursor });
  let second: Promise<string | null> | undefined;
  return [
    detail('page of 5', place => open(place, 5, null)),
    detail('next page of 5', async place => {
      second ??= readAll(open(place, 5, null)).then(body => JSON.parse(body.toString()).next_cursor);
      return open(place, 5, await second);
    }),
    detail('page of 100', place => open(place, 100, null)),
  ];
}

type Opened = { readonly bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array> };

function detail(name: string, open: (place: Place) => Opened | Promise<Opened>): Query {
  return { name: `thread: ${name}`, kind: 'page', ask: async place => readAll(await open(place)) };
}

async function readAll({ bytes }: Opened): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}
