import type { AccountId, InboxId } from '../../../src/domain/ids.js';
import type { Store } from '../../../src/store/engine/store.js';
import { getInbox } from '../../../src/store/records/inboxes.js';
import { createInbox } from '../../../src/usecases/inboxes/create-inbox.js';
import { type Mailbox, openMailboxStore, tenantDeps } from '../appliance.js';
import { type Bench, type BenchContext, withMailbox } from '../bench.js';
import { type Comparison, compare, type Report, whole } from '../measure/report.js';
import { measureLabelChanges, relabel } from './mailbox-changes.js';
import { measureDaemon } from './mailbox-daemon.js';
import { fillMailbox } from './mailbox-generator.js';
import { type Place, QUERIES, type Query, type QueryTimes, timeQuery } from './mailbox-queries.js';

const SMALL = 10_000;
const LABELS = 20_000;
const RELABELLINGS = 10_000;

/** Queries, counts and label changes of a large inbox, and the daemon that serves it. */
export const mailboxBench: Bench = {
  name: 'mailbox',
  title: 'an inbox of 1,000,000 messages (--quick: 100,000): pages, counts, label changes, the daemon on it',
  run: context => withMailbox(mailbox => measure(context, mailbox)),
};

async function measure(context: BenchContext, mailbox: Mailbox): Promise<Report> {
  const size = context.isQuick ? 100_000 : 1_000_000;
  const store = openMailboxStore(mailbox);
  let inProcess: Report;
  try {
    inProcess = await measureStore(store, mailbox.inboxId, size);
  } finally {
    await store.close();
  }
  const daemon = await measureDaemon(context, mailbox, size);
  return {
    ...inProcess,
    notes: [...inProcess.notes, ...daemon.notes],
    comparisons: [...inProcess.comparisons, ...daemon.comparisons],
  };
}

async function measureStore(store: Store, inboxId: InboxId, size: number): Promise<Report> {
  const accountId = store.read(reader => getInbox(reader, inboxId)?.accountId);
  if (accountId === undefined) throw new Error('the mailbox has no inbox');
  const addInbox = (localPart: string) => anotherInbox(store, accountId, localPart);
  const startedAt = performance.now();
  await fillMailbox(store, inboxId, size);
  const perSecond = size / ((performance.now() - startedAt) / 1000);
  const large: Place = { store, accountId, inboxId, size };
  const small: Place = { store, accountId, inboxId: await addInbox('small'), size: SMALL };
  await fillMailbox(store, small.inboxId, SMALL);
  const labelled: Place = { store, accountId, inboxId: await addInbox('labelled'), size: LABELS };
  await fillMailbox(store, labelled.inboxId, LABELS, { labelsOf: index => [`single ${index}`, 'common'] });
  await relabel(small, RELABELLINGS);

  const rows: string[][] = [];
  const timed: Timed[] = [];
  for (const query of QUERIES) {
    const one = { query, small: await timeQuery(query, small), large: await timeQuery(query, large) };
    timed.push(one);
    rows.push(rowOf(query.name, one.small, one.large));
  }
  const crowd: QueryTimes[] = [];
  for (const query of queriesOfCrowd()) {
    const times = await timeQuery(query, labelled);
    crowd.push(times);
    rows.push(rowOf(query.name, null, times));
  }
  const changes = await measureLabelChanges(large);
  return {
    columns: ['', `${whole(SMALL)} messages ms`, `${whole(size)} messages ms`, 'ratio', 'longest stretch ms'],
    rows,
    notes: [`the small inbox has a message that was relabelled ${whole(RELABELLINGS)} times`],
    comparisons: [
      ...compareQueries(timed),
      compare(
        `pages and counts among ${whole(LABELS)} labels of one message`,
        Math.max(...crowd.map(({ medianMs }) => medianMs)),
        { atMost: 1 },
        { unit: ' ms', digits: 2 },
      ),
      compare('generator, messages a second', perSecond, { atLeast: 20_000 }, { unit: '', digits: 0 }),
      compare('durable label changes a second', changes, { atLeast: 18_000 }, { unit: '', digits: 0 }),
    ],
  };
}

async function anotherInbox(store: Store, accountId: AccountId, localPart: string): Promise<InboxId> {
  return (await createInbox(tenantDeps(store), { accountId, local_part: localPart })).id as InboxId;
}

/** Of the inbox with a label for each message. */
function queriesOfCrowd(): Query[] {
  const byName = (name: string): Query[] => QUERIES.filter(query => query.name === name);
  return ['page: everything', 'labels: first page of 20', 'page: any of 32', 'count: any of 32'].flatMap(
    name => byName(name).map(query => ({ ...query, name: `${query.name} (among ${whole(LABELS)} labels)` })),
  );
}

interface Timed {
  readonly query: Query;
  readonly small: QueryTimes;
  readonly large: QueryTimes;
}

function rowOf(name: string, small: QueryTimes | null, large: QueryTimes): string[] {
  return [
    name,
    small === null ? '-' : small.medianMs.toFixed(3),
    large.medianMs.toFixed(3),
    small === null ? '-' : `${(large.medianMs / small.medianMs).toFixed(1)}x`,
    large.stretchMs.toFixed(2),
  ];
}

function compareQueries(timed: readonly Timed[]): Comparison[] {
  const of = (kind: Query['kind']): Timed[] => timed.filter(({ query }) => query.kind === kind);
  const worst = (some: readonly Timed[], pick: (one: Timed) => number): { value: number; name: string } => {
    const [first] = [...some].sort((a, b) => pick(b) - pick(a));
    return first === undefined
      ? { value: Number.NaN, name: '-' }
      : { value: pick(first), name: first.query.name };
  };
  const inMs = { unit: ' ms', digits: 2 };
  const comparisons: Comparison[] = [];
  for (const [kind, name] of [
    ['page', 'slowest page'],
    ['count', 'slowest exact count'],
    ['labels', 'labels in use, first page'],
  ] as const) {
    const { value, name: query } = worst(of(kind), ({ large }) => large.medianMs);
    comparisons.push(compare(`${name} (${query})`, value, { atMost: 1 }, inMs));
  }
  const growth = worst(of('page'), ({ small, large }) => large.medianMs / small.medianMs);
  comparisons.push(
    compare(`page that grows most (${growth.name})`, growth.value, { atMost: 2 }, { unit: 'x', digits: 1 }),
  );
  const stretch = worst(timed, ({ large }) => large.stretchMs);
  comparisons.push(
    compare(`longest stretch of the loop (${stretch.name})`, stretch.value, { atMost: 10 }, inMs),
  );
  return comparisons;
}
