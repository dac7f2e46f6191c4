import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_MATCHING_IDS } from '../../contract/limits.js';
import type { ThreadPage, ThreadSummary } from '../../contract/threads.js';
import type { InboxId, ThreadId } from '../../domain/ids.js';
import { NumberSet } from '../../store/bitmap/number-set.js';
import type { Reader } from '../../store/engine/tables.js';
import { idField, type MessageKind } from '../../store/mailbox/folders.js';
import { compareMembers, type Member, readMember } from '../../store/threads/members.js';
import { rootOfThread } from '../../store/threads/names.js';
import { getThread, MemberMask } from '../../store/threads/threads.js';
import { hasSubject } from '../mailbox/find-messages.js';
import { locateInbox } from '../shared/callers.js';
import { fitting, startOf } from '../shared/pages.js';
import { conditionsOf, idOf } from '../threads/find-threads.js';
import type { ListThreadsInput } from '../threads/list-threads.js';
import { sizeOfThread, viewThreadSummary } from '../threads/read-thread.js';
import { InboxHits, type SearchedInbox } from './inbox-hits.js';
import { rankFolder } from './rank-hits.js';
import { placeCursors, rankingAt } from './ranked-pages.js';
import type { RankedThreads } from './rankings.js';
import type { SearchDeps } from './search-messages.js';

/** Ranked messages that are read in one event turn, and conversations that are looked at. */
const MESSAGES_PER_TURN = 500;
const THREADS_PER_TURN = 50;

/** Conversations by their most relevant message: the order is made for the first page, and kept for the others. */
export async function bestThreads(
  deps: SearchDeps,
  input: ListThreadsInput,
  inbox: SearchedInbox,
  scope: string,
): Promise<ThreadPage> {
  const { store, rankings } = deps;
  const { id: inboxId, accountId } = inbox;
  const cursors = placeCursors(deps.cursors, scope);
  const asked = startOf(cursors, input.cursor);
  const ranking: RankedThreads =
    asked === null
      ? await rankThreads(deps, input, inbox)
      : rankingAt(rankings, accountId, asked.name, 'threads');
  const walk = new RankedWalk(ranking, inboxId, input, asked?.place ?? 0);
  while (!store.read(reader => walk.advance(reader))) await nextTurn();
  store.read(reader => locateInbox(reader, input, inboxId));
  const full = walk.found.slice(0, input.limit);
  const shown = fitting(full, ({ summary }) => sizeOfThread(summary));
  const next = walk.found[shown.length];
  const threads = shown.map(({ summary }) => summary);
  if (next === undefined) return { threads, next_cursor: null };
  const name = asked?.name ?? rankings.keep(accountId, ranking);
  return { threads, next_cursor: cursors.write({ name, place: next.place }) };
}

/** Looks at ranked conversations in order, until a page is full and one more is known. */
class RankedWalk {
  readonly found: { readonly place: number; readonly summary: ThreadSummary }[] = [];
  readonly #ranking: RankedThreads;
  readonly #inboxId: InboxId;
  readonly #input: ListThreadsInput;
  readonly #start: number;
  #place = 0;
  /** Conversations that were met, by today's roots: those that have become one since are shown once. */
  readonly #met = new Set<ThreadId>();

  constructor(ranking: RankedThreads, inboxId: InboxId, input: ListThreadsInput, start: number) {
    this.#ranking = ranking;
    this.#inboxId = inboxId;
    this.#input = input;
    this.#start = start;
  }

  /** Works for one event turn; false when there is more to do. */
  advance(reader: Reader): boolean {
    const { roots, found } = this.#ranking;
    const conditions = conditionsOf(reader, this.#inboxId, this.#input.filter, found);
    const mask = new MemberMask(reader, this.#inboxId, conditions);
    for (let looks = 0; this.#place < roots.length; this.#place++) {
      if (this.found.length > this.#input.limit) return true;
      if (looks >= THREADS_PER_TURN) return false;
      const ranked = roots[this.#place];
      if (ranked === undefined) continue;
      const root = rootOfThread(reader, ranked);
      const isFirst = !this.#met.has(root);
      this.#met.add(root);
      if (this.#place < this.#start) {
        // Those of the pages before are only met again.
        looks += 1 / 20;
        continue;
      }
      looks += 1;
      const summary = isFirst ? this.#look(reader, root, mask) : null;
      if (summary !== null) this.found.push({ place: this.#place, summary });
    }
    return true;
  }

  #look(reader: Reader, root: ThreadId, mask: MemberMask): ThreadSummary | null {
    const thread = getThread(reader, root);
    if (thread === undefined) return null;
    const small = mask.ofSmall(thread);
    const { count, newest } =
      small === null ? mask.of(root, thread, MAX_MATCHING_IDS) : { count: small.length, newest: small };
    return count === 0 ? null : viewThreadSummary(reader, thread, { ids: newest.flatMap(idOf), count });
  }
}

interface RankedMember {
  readonly member: Member;
  readonly root: ThreadId;
  readonly score: number;
}

/** Ranks the newest hits of both kinds, and puts their conversations in order. */
async function rankThreads(
  deps: SearchDeps,
  input: ListThreadsInput,
  inbox: SearchedInbox,
): Promise<RankedThreads> {
  const { filter } = input;
  const hits = await InboxHits.begin(deps, inbox, filter);
  await hits.fetch(Number.POSITIVE_INFINITY);
  const ranked: RankedMember[] = [];
  for (const { folder, hits: ofFolder } of hits.folders) {
    const { seqs, scores } = await rankFolder(deps, ofFolder, folder, filter);
    for (let at = 0; at < seqs.length; at += MESSAGES_PER_TURN) {
      deps.store.read(reader => {
        for (let place = at; place < Math.min(at + MESSAGES_PER_TURN, seqs.length); place++) {
          const [member] = readMember(reader, { ...folder, seq: seqs[place] ?? 0 });
          const threadId = member === undefined ? null : idField<ThreadId>(member.summary, 'thread_id');
          if (member === undefined || threadId === null) continue;
          if (!hasSubject(reader, folder.kind, member.summary, filter.subject)) continue;
          ranked.push({ member, root: rootOfThread(reader, threadId), score: scores[place] ?? 0 });
        }
      });
      await nextTurn();
    }
  }
  ranked.sort((a, b) => (a.score === b.score ? compareMembers(b.member, a.member) : a.score - b.score));
  const roots = [...new Set(ranked.map(({ root }) => root))];
  return { type: 'threads', roots, found: filter.subject === null ? hits.found : numbersOf(ranked) };
}

/** A part of the subject is looked for once, with the ranking. */
function numbersOf(ranked: readonly RankedMember[]): Readonly<Record<MessageKind, NumberSet>> {
  const found = { received: new NumberSet(), sent: new NumberSet() };
  for (const { member } of ranked) found[member.kind].add(member.seq);
  return found;
}
