import type { AccountId, InboxId } from '../../../src/domain/ids.js';
import type { Store } from '../../../src/store/engine/store.js';
import { getInbox } from '../../../src/store/records/inboxes.js';
import { createInbox } from '../../../src/usecases/inboxes/create-inbox.js';
import { type Mailbox, openMailboxStore, tenantDeps } from '../appliance.js';
import { type Bench, type BenchContext, withMailbox } from '../bench.js';
import { fillMailbox } from '../mailbox/mailbox-generator.js';
import { type Place, type Query, type QueryTimes, timeQuery } from '../mailbox/mailbox-queries.js';
import { type Comparison, compare, type Report, whole } from '../measure/report.js';
import { HALVES, LARGE, referencesOf, threadChanges, threadOf, timeChange } from './thread-changes.js';
import { detailQueries, THREAD_LISTS } from './thread-queries.js';

const SMALL_MESSAGES = 1_200;

/** Conversations: lists, details and changes where there are many and where one is large. */
export const threadsBench: Bench = {
  name: 'threads',
  title:
    'some 500,000 conversations (--quick: 50,000), one of 10,000 messages (1,000): lists, pages, changes',
  run: context => withMailbox(mailbox => measure(context, mailbox)),
};

async function measure({ isQuick }: BenchContext, mailbox: Mailbox): Promise<Report> {
  const size = isQuick ? 60_000 : 600_000;
  const store = openMailboxStore(mailbox);
  try {
    const accountId = store.read(reader => getInbox(reader, mailbox.inboxId)?.accountId);
    if (accountId === undefined) throw new Error('the mailbox has no inbox');
    const large: Place = { store, accountId, inboxId: mailbox.inboxId, size };
    const startedAt = performance.now();
    await fillMailbox(store, large.inboxId, size, { referencesOf });
    const perSecond = size / ((performance.now() - startedAt) / 1000);
    const small: Place = { ...large, inboxId: await anotherInbox(store, accountId), size: SMALL_MESSAGES };
    await fillMailbox(store, small.inboxId, SMALL_MESSAGES, { referencesOf });
    return await measureStore(small, large, perSecond);
  } finally {
    await store.close();
  }
}

async function anotherInbox(store: Store, accountId: AccountId): Promise<InboxId> {
  return (await createInbox(tenantDeps(store), { accountId, local_part: 'small' })).id as InboxId;
}

interface Timed {
  readonly name: string;
  readonly kind: 'list' | 'filter' | 'search' | 'thread' | 'long page';
  readonly small: QueryTimes;
  readonly large: QueryTimes;
}

async function measureStore(small: Place, large: Place, perSecond: number): Promise<Report> {
  const timed: Timed[] = [];
  for (const list of THREAD_LISTS) {
    const { name, kind, query } = list;
    timed.push({ name, kind, ...(await timeBoth(query, query, small, large)) });
  }
  // In the small inbox a tenth of a hundred messages, in the large one the large conversation.
  const few = detailQueries(threadOf(small, HALVES.one));
  for (const [index, query] of detailQueries(threadOf(large, LARGE)).entries()) {
    const kind = query.name.includes('100') ? 'long page' : 'thread';
    timed.push({ name: query.name, kind, ...(await timeBoth(few[index] ?? query, query, small, large)) });
  }
  const rows = timed.map(({ name, small: one, large: other }) => rowOf(name, one, other));
  const comparisons = compareQueries(timed);
  for (const change of threadChanges(large)) {
    const { totalMs, stretchMs } = await timeChange(change);
    rows.push([change.name, '-', totalMs.toFixed(1), '-', stretchMs.toFixed(2)]);
    const what = `${change.name}: longest stretch`;
    comparisons.push(compare(what, stretchMs, { atMost: 10 }, { unit: ' ms', digits: 2 }));
  }
  const [one, other] = [small, large].map(({ size }) => `${whole(size)} messages ms`);
  return {
    columns: ['', one ?? '', other ?? '', 'ratio', 'longest stretch ms'],
    rows,
    notes: [`${whole(perSecond)} messages a second were stored, each with its conversation`],
    comparisons,
  };
}

async function timeBoth(one: Query, other: Query, small: Place, large: Place) {
  return { small: await timeQuery(one, small), large: await timeQuery(other, large) };
}

function compareQueries(timed: readonly Timed[]): Comparison[] {
  const growth = (kind: Timed['kind']): number =>
    Math.max(...timed.filter(one => one.kind === kind).map(one => one.large.medianMs / one.small.medianMs));
  const stretch = Math.max(...timed.map(one => one.large.stretchMs));
  const slowest = Math.max(...timed.filter(({ kind }) => kind === 'filter').map(one => one.large.medianMs));
  return [
    compare('conversations: list that grows most', growth('list'), { atMost: 2 }, { unit: 'x' }),
    compare('conversations: slowest page by sets', slowest, { atMost: 10 }, { unit: ' ms', digits: 2 }),
    compare(
      'page of a large conversation',
      growth('thread'),
      { atMost: 2 },
      { unit: 'x', than: 'of a small one' },
    ),
    compare('conversations: longest stretch', stretch, { atMost: 10 }, { unit: ' ms', digits: 2 }),
  ];
}

function rowOf(name: string, small: QueryTimes, large: QueryTimes): string[] {
  return [
    name,
    small.medianMs.toFixed(3),
    large.medianMs.toFixed(3),
    `${(large.medianMs / small.medianMs).toFixed(1)}x`,
    large.stretchMs.toFixed(2),
  ];
}
