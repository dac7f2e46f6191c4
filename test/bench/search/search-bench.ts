import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AccountId, InboxId } from '../../../src/domain/ids.js';
import { hasTerms, joinWords, messageWordsAtOnce } from '../../../src/domain/message-words.js';
import { parseSearch } from '../../../src/domain/search-words.js';
import type { Store } from '../../../src/store/engine/store.js';
import { createAccount } from '../../../src/usecases/accounts/accounts.js';
import { createKey } from '../../../src/usecases/accounts/api-keys.js';
import { createInbox } from '../../../src/usecases/inboxes/create-inbox.js';
import { type Appliance, dataFolder, type Mailbox, openMailboxStore, tenantDeps } from '../appliance.js';
import { type Bench, type BenchContext, withDaemon, withMailbox } from '../bench.js';
import { NUMBER, runHttpLoad } from '../load/run-http-load.js';
import { fillMailbox, HALVES, OLDEST, RARE } from '../mailbox/mailbox-generator.js';
import { type Comparison, compare, type Report, whole } from '../measure/report.js';
import { textOf, wordOfRank } from './mail-texts.js';

const OTHER_ACCOUNTS = 9;
const SCANNED = 5_000;

/** Mail of ten accounts that is searched over HTTP: one account has half of it. */
export const searchBench: Bench = {
  name: 'search',
  title:
    '1,000,000 messages of ten accounts, half of them in one (--quick: 20,000): indexing, and queries over HTTP',
  run: context => withMailbox(mailbox => measure(context, mailbox)),
};

async function measure(context: BenchContext, mailbox: Mailbox): Promise<Report> {
  const total = context.isQuick ? 20_000 : 1_000_000;
  const store = openMailboxStore(mailbox);
  const startedAt = performance.now();
  const others: Searched[] = [];
  try {
    await fill(store, mailbox.inboxId, total / 2);
    for (let other = 0; other < OTHER_ACCOUNTS; other++) {
      const account = await anotherAccount(store, other);
      others.push(account);
      await fill(store, account.inboxId, Math.round(total / 2 / OTHER_ACCOUNTS));
    }
  } finally {
    await store.close();
  }
  const filledS = (performance.now() - startedAt) / 1000;
  return withDaemon(mailbox, async appliance => {
    const indexing = await measureIndexing(appliance, mailbox, total);
    const queries = await measureQueries(context, appliance, mailbox);
    const neighbour = await measureNeighbour(context, appliance, mailbox, others[0] ?? mailbox);
    return {
      columns: ['', 'p50 ms', 'p99 ms', 'a second', 'bytes', 'main loop, longest ms'],
      rows: [...queries.rows, ...neighbour.rows],
      notes: [
        `stored in ${filledS.toFixed(0)} s, before the daemon was started`,
        ...indexing.notes,
        ...queries.notes,
        ...neighbour.notes,
        scanNote(),
      ],
      comparisons: [...indexing.comparisons, ...queries.comparisons, ...neighbour.comparisons],
    };
  });
}

const fill = (store: Store, inboxId: InboxId, count: number): Promise<void> =>
  fillMailbox(store, inboxId, count, { textOf });

/** An inbox, and a key of its account. */
type Searched = Pick<Mailbox, 'inboxId' | 'credential'>;

async function anotherAccount(store: Store, number: number): Promise<Searched> {
  const deps = { ...tenantDeps(store), limits: { inboxes: 10, sends: 10, storageMib: 65_536 } };
  const account = await createAccount(deps, `human${number}@elsewhere.example`);
  const accountId = account.account_id as AccountId;
  const { credential } = await createKey(deps, { account: accountId });
  const inbox = await createInbox(deps, { accountId, local_part: `agent${number}` });
  return { inboxId: inbox.id as InboxId, credential };
}

interface Part {
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
  readonly comparisons: readonly Comparison[];
}

async function measureIndexing(appliance: Appliance, mailbox: Mailbox, total: number): Promise<Part> {
  const endWatch = appliance.watch();
  const startedAt = performance.now();
  while (!appliance.isAllIndexed()) await delay(100);
  const seconds = (performance.now() - startedAt) / 1000;
  const { loop, memory } = await endWatch();
  const bytes = folderBytes(join(dataFolder(mailbox.folder), 'search'));
  return {
    rows: [],
    notes: [
      `indexed ${whole(total)} messages in ${seconds.toFixed(1)} s: ${whole(total / seconds)} a second; the index has ${whole(bytes / 2 ** 20)} MiB, ${whole(bytes / total)} bytes a message (text: ${whole(meanTextBytes())})`,
      `meanwhile: main loop p99 ${loop.p99Ms.toFixed(1)} ms, longest ${loop.maxMs.toFixed(1)} ms, busy ${(100 * loop.busyShare).toFixed(0)} %; memory ${JSON.stringify(memory)}`,
    ],
    comparisons: [
      compare(
        'main loop while a million messages are indexed, longest',
        loop.maxMs,
        { atMost: 10 },
        { unit: ' ms' },
      ),
    ],
  };
}

interface SearchQuery {
  readonly name: string;
  readonly kind: 'page' | 'count' | 'relevance';
  readonly parameters: Readonly<Record<string, string>>;
}

/** A word that nearly all messages have, one of some thousands, one of a few. */
const COMMON = 'the';
const MIDDLE = wordOfRank(300);
const UNCOMMON = wordOfRank(20_000);
const RARE_WORD = 'kumquat';
const SIXTEEN = Array.from({ length: 16 }, (_, at) => wordOfRank(at)).join(' ');

const QUESTIONS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['a common word', { query: COMMON }],
  ['a word of one in a hundred', { query: MIDDLE }],
  ['an uncommon word', { query: UNCOMMON }],
  ['a rare word', { query: RARE_WORD }],
  ['no message has it', { query: 'xyzzy' }],
  ['common and rare', { query: `${COMMON} ${RARE_WORD}` }],
  ['two common words', { query: `${COMMON} and` }],
  ['a phrase', { query: '"of the"' }],
  ['sixteen words', { query: SIXTEEN }],
  ['common, with a label on half', { query: COMMON, labels_all: HALVES.even }],
  ['common, with a rare label', { query: COMMON, labels_all: RARE.label }],
  ['common, with a label on the oldest', { query: COMMON, labels_all: OLDEST.label }],
  [
    'common, both of two halves that share nothing',
    { query: COMMON, labels_all: `${HALVES.even},${HALVES.odd}` },
  ],
  ['rare, not a half', { query: RARE_WORD, labels_none: HALVES.even }],
  ['common, from a sender', { query: COMMON, from: 'person0@correspondents.example' }],
];

/** Words that most messages have: the most work for one question. */
const HEAVY = [
  ['a common word', { query: COMMON }],
  ['sixteen words', { query: SIXTEEN }],
] as const;

const QUERIES: readonly SearchQuery[] = (['page', 'count', 'relevance'] as const).flatMap(kind =>
  QUESTIONS.map(([name, parameters]) => ({ name, kind, parameters })),
);

/** What a page takes that needs no index. */
const WITHOUT_WORDS: SearchQuery = { name: 'without words', kind: 'page', parameters: {} };

async function measureQueries(context: BenchContext, appliance: Appliance, mailbox: Mailbox): Promise<Part> {
  const load = {
    port: appliance.httpPort,
    credential: appliance.credential,
    connections: 1,
    durationMs: context.isQuick ? 500 : 3_000,
  };
  const rows: string[][] = [];
  const pagesP99: { name: string; p99: number }[] = [];
  let longestMs = 0;
  for (const query of [WITHOUT_WORDS, ...QUERIES]) {
    const endWatch = appliance.watch();
    const { p50Ms, p99Ms, perSecond, bodyBytes } = await runHttpLoad({
      ...load,
      path: pathOf(mailbox, query),
    });
    const { loop } = await endWatch();
    longestMs = Math.max(longestMs, loop.maxMs);
    if (query.kind === 'page' && query !== WITHOUT_WORDS) pagesP99.push({ name: query.name, p99: p99Ms });
    rows.push([
      `${query.kind}: ${query.name}`,
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      whole(perSecond),
      whole(bodyBytes),
      loop.maxMs.toFixed(0),
    ]);
  }
  const [slowest] = pagesP99.sort((a, b) => b.p99 - a.p99);
  return {
    rows,
    notes: [`queries are asked one after another in the inbox with half of the mail`],
    comparisons: [
      compare(
        `slowest page of newest, p99 (${slowest?.name})`,
        slowest?.p99 ?? null,
        { atMost: 5 },
        { unit: ' ms', digits: 2 },
      ),
      compare('main loop while it is searched, longest', longestMs, { atMost: 10 }, { unit: ' ms' }),
    ],
  };
}

/** What the searches of one account wait for those of another that asks the most it can. */
async function measureNeighbour(
  context: BenchContext,
  { httpPort: port }: Appliance,
  mailbox: Mailbox,
  neighbour: Searched,
): Promise<Part> {
  const durationMs = context.isQuick ? 1_000 : 5_000;
  const own = { port, credential: neighbour.credential, connections: 1, durationMs };
  const rows: string[][] = [];
  const ask = async (name: string) => {
    const path = pathOf(neighbour, { kind: 'page', parameters: { query: COMMON } }, rows.length);
    const { p50Ms, p99Ms, perSecond, bodyBytes } = await runHttpLoad({ ...own, path });
    rows.push([name, p50Ms.toFixed(2), p99Ms.toFixed(2), whole(perSecond), whole(bodyBytes), '']);
    return p50Ms;
  };
  const alone = await ask('neighbour: a common word, alone');
  const busy: number[] = [];
  for (const kind of ['count', 'relevance'] as const) {
    for (const [words, parameters] of HEAVY) {
      const heavy = pathOf(mailbox, { kind, parameters }, 1);
      const load = { port, path: heavy, credential: mailbox.credential, connections: 8 };
      const running = runHttpLoad({ ...load, durationMs: durationMs + 2_000 });
      await delay(1_000);
      busy.push(await ask(`neighbour: beside eight that ask ${kind} of ${words}`));
      await running;
    }
  }
  return {
    rows,
    notes: [
      `a page of a neighbour beside the heaviest searches, p50: ${(Math.max(...busy) / alone).toFixed(1)} times that alone`,
    ],
    comparisons: [],
  };
}

/** @param run another one for each time that the same is asked: no answer comes from a cache */
function pathOf(
  { inboxId }: Searched,
  { kind, parameters }: Pick<SearchQuery, 'kind' | 'parameters'>,
  run = 0,
): string {
  const search = new URLSearchParams(parameters);
  const after = `after=2020-01-01T00:00:0${run}.${NUMBER}Z`;
  if (kind === 'count') return `/v1/inboxes/${inboxId}/messages/count?${search}&${after}`;
  if (kind === 'relevance') search.set('order', 'relevance');
  return `/v1/inboxes/${inboxId}/messages?limit=20&${search}&${after}`;
}

/** What looking through the texts would take, without an index. */
function scanNote(): string {
  const terms = parseSearch(RARE_WORD);
  const texts = Array.from({ length: SCANNED }, (_, index) => ({ ...textOf(index), html: null }));
  const startedAt = performance.now();
  let hits = 0;
  for (const text of texts) {
    if (hasTerms(joinWords(messageWordsAtOnce(text)), terms)) hits++;
  }
  const perSecond = SCANNED / ((performance.now() - startedAt) / 1000);
  return `a scan without an index looks through ${whole(perSecond)} texts a second (${hits} hits)`;
}

function meanTextBytes(): number {
  let bytes = 0;
  for (let index = 0; index < SCANNED; index++) {
    const { subject, text } = textOf(index);
    bytes += Buffer.byteLength(subject) + Buffer.byteLength(text);
  }
  return bytes / SCANNED;
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
