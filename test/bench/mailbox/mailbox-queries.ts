import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountId, InboxId } from '../../../src/domain/ids.js';
import { foldCase, type MessageFilter, NO_FILTER } from '../../../src/domain/message-filter.js';
import { CursorCodec } from '../../../src/domain/paging.js';
import type { Store } from '../../../src/store/engine/store.js';
import { countMessages } from '../../../src/usecases/mailbox/count-messages.js';
import { listLabels } from '../../../src/usecases/mailbox/list-labels.js';
import { type ListOrder, listMessages } from '../../../src/usecases/mailbox/list-messages.js';
import { median } from '../measure/statistics.js';
import { correspondent, FIRST_AT, HALVES, OLDEST, RARE, STEP_MS, TOPICS } from './mailbox-generator.js';

/** What a query is asked about. */
export interface Place {
  readonly store: Store;
  readonly accountId: AccountId;
  readonly inboxId: InboxId;
  /** Messages in the inbox. */
  readonly size: number;
}

export interface QueryTimes {
  readonly medianMs: number;
  /** The longest time for which the event loop was blocked. */
  readonly stretchMs: number;
}

/** A query; `ask` may take one event turn or several. */
export interface Query {
  readonly name: string;
  readonly kind: 'page' | 'count' | 'labels' | 'search';
  readonly ask: (place: Place) => unknown;
}

const cursors = new CursorCodec(Buffer.alloc(32, 1).toString('base64'));

export type Groups = Partial<MessageFilter['labels']>;
type Rest = Partial<Omit<MessageFilter, 'labels'>>;

export function filterOf({ all = [], any = [], none = [] }: Groups, rest: Rest = {}): MessageFilter {
  return { ...NO_FILTER, ...rest, labels: { all, any, none } };
}

/** The time of the middle message. */
export const middleOf = ({ size }: Place): number => FIRST_AT + Math.floor(size / 2) * STEP_MS;

/** Each has a full page in a small and in a large inbox, or in neither: pages of the same length are compared. */
const SETS: readonly (readonly [string, (place: Place) => MessageFilter])[] = [
  ['everything', () => NO_FILTER],
  ['one label, on half', () => filterOf({ all: [HALVES.even] })],
  ['one label, rare', () => filterOf({ all: [RARE.label] })],
  ['one label, on the oldest only', () => filterOf({ all: [OLDEST.label] })],
  ['both of two halves that share nothing', () => filterOf({ all: [HALVES.even, HALVES.odd] })],
  ['none of both halves', () => filterOf({ none: [HALVES.even, HALVES.odd] })],
  ['a half and the oldest only', () => filterOf({ all: [HALVES.even, OLDEST.label] })],
  ['any of 32', () => filterOf({ any: TOPICS })],
  ['all of 32', () => filterOf({ all: TOPICS })],
  ['none of 32', () => filterOf({ none: TOPICS })],
  [
    'any of 32, in a half, none of 31',
    () => filterOf({ any: TOPICS, all: [HALVES.odd], none: [...TOPICS.slice(1), RARE.label] }),
  ],
  ['from a frequent sender', () => filterOf({}, { from: correspondent(0) })],
  [
    'sender, recipient and label',
    () => filterOf({ any: TOPICS.slice(0, 4) }, { from: correspondent(0), recipient: correspondent(0) }),
  ],
  ['before the middle', place => filterOf({}, { before: middleOf(place) })],
  [
    'a label between two instants',
    place =>
      filterOf(
        { all: [HALVES.even] },
        { after: middleOf(place) - 2_000 * STEP_MS, before: middleOf(place) + 2_000 * STEP_MS },
      ),
  ],
  [
    'everything at once but a subject',
    place =>
      filterOf(
        { all: [HALVES.even], any: TOPICS, none: [RARE.label, OLDEST.label] },
        { from: correspondent(0), recipient: 'agent@bench.example', before: middleOf(place) },
      ),
  ],
];

export const QUERIES: readonly Query[] = [
  ...SETS.map(([name, filter]): Query => page(name, filter)),
  page('next page, everything', () => NO_FILTER, { isNext: true }),
  page('next page, none of 32', () => filterOf({ none: TOPICS }), { isNext: true }),
  page('oldest first, rare', () => filterOf({ all: [RARE.label] }), { order: 'oldest' }),
  page('page of 100, any of 32', () => filterOf({ any: TOPICS }), { limit: 100 }),
  ...SETS.map(([name, filter]): Query => count(name, filter)),
  {
    name: 'labels: first page of 20',
    kind: 'labels',
    ask: place => listLabels({ ...place, cursors }, { ...place, prefix: '', limit: 20, cursor: null }),
  },
  { ...page('subject that all have', () => filterOf({}, { subject: foldCase('quarter') })), kind: 'search' },
  {
    ...page('subject that none has', () => filterOf({}, { subject: foldCase('nobody wrote') })),
    kind: 'search',
  },
  {
    ...count('subject, on a rare label', () =>
      filterOf({ all: [RARE.label] }, { subject: foldCase('report') }),
    ),
    kind: 'search',
  },
];

interface PageShape {
  readonly isNext?: boolean;
  readonly order?: ListOrder;
  readonly limit?: number;
}

function page(name: string, filterAt: (place: Place) => MessageFilter, shape: PageShape = {}): Query {
  const { isNext = false, order = 'newest', limit = 20 } = shape;
  const ask = (place: Place, cursor: string | null) =>
    listMessages(
      { ...place, cursors },
      { ...place, kind: 'received', filter: filterAt(place), order, limit, cursor },
    );
  const cursorsAt = new Map<Place, string | null>();
  return {
    name: `page: ${name}`,
    kind: 'page',
    ask: place => {
      if (!isNext) return ask(place, null);
      if (!cursorsAt.has(place)) cursorsAt.set(place, ask(place, null).nextCursor);
      return ask(place, cursorsAt.get(place) ?? null);
    },
  };
}

function count(name: string, filterAt: (place: Place) => MessageFilter): Query {
  return {
    name: `count: ${name}`,
    kind: 'count',
    ask: async place => await countMessages(place, { ...place, kind: 'received', filter: filterAt(place) }),
  };
}

const WARM_UP = 20;
const REPEATS = 101;
const BUDGET_MS = 1_500;

/** Asks many times, each time in its own event turn, as requests come. */
export async function timeQuery({ ask }: Query, place: Place): Promise<QueryTimes> {
  for (let repeat = 0; repeat < WARM_UP; repeat++) await ask(place);
  const times: number[] = [];
  const endsAt = performance.now() + BUDGET_MS;
  while (times.length < REPEATS && performance.now() < endsAt) {
    await nextTurn();
    const startedAt = performance.now();
    await ask(place);
    times.push(performance.now() - startedAt);
  }
  const stretches: number[] = [];
  for (let repeat = 0; repeat < 5; repeat++) stretches.push(await longestStretch(async () => ask(place)));
  // The shortest of several, because other load on the machine makes them longer.
  return { medianMs: median(times), stretchMs: Math.min(...stretches) };
}

/** The longest gap between two turns of the event loop while `work` runs. */
export async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let lastAt = performance.now();
  const done = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    const now = performance.now();
    longest = Math.max(longest, now - lastAt);
    lastAt = now;
  }
  await done;
  return longest;
}
