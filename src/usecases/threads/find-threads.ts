import { MAX_MATCHING_IDS } from '../../contract/limits.js';
import type { ThreadSummary } from '../../contract/threads.js';
import type { InboxId, MessageId, ThreadId } from '../../domain/ids.js';
import type { MessageFilter } from '../../domain/message-filter.js';
import type { NumberSet } from '../../store/bitmap/number-set.js';
import type { Reader } from '../../store/engine/tables.js';
import { idField, type MessageKind } from '../../store/mailbox/folders.js';
import { selectMessages } from '../../store/mailbox/select-messages.js';
import {
  compareMembers,
  foldersOf,
  type Member,
  type MemberConditions,
  type MemberPosition,
  readMember,
  scanMembers,
} from '../../store/threads/members.js';
import { rootOfThread } from '../../store/threads/names.js';
import {
  findThread,
  getThread,
  type MaskedMembers,
  MemberMask,
  scanActivity,
  type ThreadActivity,
} from '../../store/threads/threads.js';
import { amongHits, hasSubject, selectionOf } from '../mailbox/find-messages.js';
import { fitting } from '../shared/pages.js';
import { type Matching, sizeOfThread, viewThreadSummary } from './read-thread.js';

export interface ThreadPageRequest {
  readonly isDescending: boolean;
  readonly limit: number;
  /** Go on behind the conversation whose latest member stood here; null at the start. */
  readonly position: MemberPosition | null;
}

export interface FoundThreads {
  readonly threads: readonly ThreadSummary[];
  /** Position for the next page; null at the end. */
  readonly next: MemberPosition | null;
}

export interface SearchBounds {
  /** Messages that match, up to which the conversations are found by way of them. */
  readonly few: number;
  /** Looks at messages, sets and conversations in one event turn: some milliseconds. */
  readonly looksPerTurn: number;
  /** The same for one page. */
  readonly looksPerPage: number;
}

/** Messages that have the words of a search, of the newest messages of an inbox. */
export interface MemberHits {
  readonly found: Readonly<Record<MessageKind, NumberSet>>;
  /**
   * Every hit of a later place in time is among them (`MemberPosition`); less than any place when all hits are. Fetching
   * more moves it back.
   */
  readonly completeAfter: number;
}

/** After a turn: the page is made, there is more to do, or more hits are needed first. */
export type SearchState = 'done' | 'more' | 'hits';

export const THREAD_BOUNDS: SearchBounds = { few: 500, looksPerTurn: 500, looksPerPage: 20_000 };
/** A conversation of which something has to be read, in looks. */
const THREAD_LOOKS = 4;
const STEP = 100;

/**
 * One page of the conversations with a member that meets a filter, every condition in that one message. Few
 * matching messages are looked at one by one and lead to their conversations; where there are many, the
 * conversations are walked in the order of the list and each is asked for its matches. Both go on in the next
 * event turn after a bounded number of looks, and a page ends early after another.
 */
export class ThreadSearch {
  readonly #inboxId: InboxId;
  readonly #filter: MessageFilter;
  readonly #page: ThreadPageRequest;
  readonly #hits: MemberHits | null;
  readonly #bounds: SearchBounds;
  readonly #found: Found[] = [];
  /** How far the walk has come. */
  #position: MemberPosition | null;
  #isWalking = false;
  #partial: BegunThread | null = null;
  #looks = 0;
  #next: MemberPosition | null = null;

  /** @param hits of the words of the filter, when it has any; they may grow between two turns */
  constructor(
    inboxId: InboxId,
    filter: MessageFilter,
    page: ThreadPageRequest,
    bounds = THREAD_BOUNDS,
    hits: MemberHits | null = null,
  ) {
    this.#hits = hits;
    this.#bounds = bounds;
    this.#inboxId = inboxId;
    this.#filter = filter;
    this.#page = page;
    this.#position = page.position;
  }

  /** Works for one event turn. */
  advance(reader: Reader): SearchState {
    const conditions = this.#conditions(reader);
    if (!this.#isWalking) {
      const few = this.#fewMatches(reader, conditions);
      if (few !== null) {
        this.#takeFew(reader, few);
        return 'done';
      }
      this.#isWalking = true;
    }
    return this.#walk(reader, conditions);
  }

  result(): FoundThreads {
    const full = this.#found.slice(0, this.#page.limit);
    const shown = fitting(full, ({ summary }) => sizeOfThread(summary));
    return {
      threads: shown.map(({ summary }) => summary),
      next: shown.length < full.length ? (shown.at(-1)?.place.latest ?? null) : this.#next,
    };
  }

  #conditions(reader: Reader): MemberConditions {
    return conditionsOf(reader, this.#inboxId, this.#filter, this.#hits?.found ?? null);
  }

  /** Messages that meet the filter, subject aside; null when there are many. */
  #fewMatches(reader: Reader, conditions: MemberConditions): Member[] | null {
    if (this.#hits !== null && this.#hits.completeAfter >= 0) return null;
    const members: Member[] = [];
    for (const folder of foldersOf(this.#inboxId)) {
      const page = { isDescending: true, limit: this.#bounds.few + 1 };
      const { seqs, stoppedAt } = selectMessages(reader, folder, conditions[folder.kind], page);
      if (stoppedAt !== null || seqs.length + members.length > this.#bounds.few) return null;
      members.push(...seqs.flatMap(seq => readMember(reader, { ...folder, seq })));
    }
    return members;
  }

  #takeFew(reader: Reader, members: readonly Member[]): void {
    const byRoot = new Map<ThreadId, Member[]>();
    for (const member of members) {
      const threadId = idField<ThreadId>(member.summary, 'thread_id');
      if (threadId === null || !this.#meetsSubject(reader, member)) continue;
      const root = rootOfThread(reader, threadId);
      const others = byRoot.get(root);
      if (others === undefined) byRoot.set(root, [member]);
      else others.push(member);
    }
    const { isDescending, limit, position } = this.#page;
    const order = isDescending ? -1 : 1;
    const threads = [...byRoot].flatMap(([root, matches]) => {
      const latest = getThread(reader, root)?.latest ?? null;
      const isBehind = latest !== null && (position === null || compareMembers(latest, position) * order > 0);
      return isBehind ? [{ root, latest, matches }] : [];
    });
    threads.sort((a, b) => compareMembers(a.latest, b.latest) * order);
    for (const { root, latest, matches } of threads.slice(0, limit + 1)) {
      matches.sort((a, b) => compareMembers(b, a));
      this.#add(
        reader,
        { root, latest },
        {
          ids: matches.slice(0, MAX_MATCHING_IDS).flatMap(idOf),
          count: matches.length,
        },
      );
    }
    this.#endPage();
  }

  #walk(reader: Reader, conditions: MemberConditions): SearchState {
    const mask = new MemberMask(reader, this.#inboxId, conditions);
    const endsAt = this.#looks + this.#bounds.looksPerTurn;
    // A conversation that was begun is read to its end, or no page would ever get past it.
    if (this.#partial !== null && !this.#lookThrough(reader, this.#partial, conditions)) return 'more';
    for (;;) {
      const activity = scanActivity(reader, this.#inboxId, {
        isDescending: this.#page.isDescending,
        position: this.#position,
        limit: STEP,
      });
      for (const entry of activity) {
        if (this.#found.length > this.#page.limit) return this.#endPage();
        if (this.#looks >= this.#bounds.looksPerPage) return this.#endPage(this.#position);
        if (this.#looks >= endsAt) return 'more';
        this.#looks += 1;
        if (!this.#knowsHitsOf(reader, entry)) return 'hits';
        this.#position = entry.latest;
        // A conversation of one message is decided by one bit.
        const canMatch = !entry.isAlone || mask.has(entry.latest);
        if (canMatch && !this.#lookInto(reader, entry, mask, conditions)) return 'more';
      }
      if (activity.length < STEP) return this.#endPage();
    }
  }

  /** Are all hits known that a conversation can have? */
  #knowsHitsOf(reader: Reader, { root, latest, isAlone }: ThreadActivity): boolean {
    const completeAfter = this.#hits?.completeAfter ?? -1;
    if (completeAfter < 0) return true;
    if (latest.at <= completeAfter) return false;
    return isAlone || (getThread(reader, root)?.earliest?.at ?? latest.at) > completeAfter;
  }

  /** Adds a conversation when it has matches; false when it takes another turn to know. */
  #lookInto(reader: Reader, entry: ThreadActivity, mask: MemberMask, conditions: MemberConditions): boolean {
    const { root, latest } = entry;
    const thread = getThread(reader, root);
    if (thread === undefined) return true;
    this.#looks += THREAD_LOOKS;
    const small = mask.ofSmall(thread);
    if (small === null && this.#filter.subject !== null) {
      this.#partial = { root, latest, ids: [], count: 0, position: null };
      return this.#lookThrough(reader, this.#partial, conditions);
    }
    const matching =
      small === null
        ? mask.of(root, thread, MAX_MATCHING_IDS)
        : matchesOf(small.filter(member => this.#meetsSubject(reader, member)));
    this.#looks += matching.newest.length;
    this.#add(reader, { root, latest }, { ids: matching.newest.flatMap(idOf), count: matching.count });
    return true;
  }

  /** Looks at every member that meets the conditions, over as many turns as it takes; false as long as it does. */
  #lookThrough(reader: Reader, partial: BegunThread, conditions: MemberConditions): boolean {
    const place = { inboxId: this.#inboxId, root: rootOfThread(reader, partial.root) };
    const endsAt = this.#looks + this.#bounds.looksPerTurn;
    let { count, position } = partial;
    const ids = [...partial.ids];
    for (;;) {
      const members = scanMembers(reader, place, { isDescending: true, position, limit: STEP, conditions });
      const matching = members.filter(member => this.#meetsSubject(reader, member));
      count += matching.length;
      ids.push(...matching.slice(0, MAX_MATCHING_IDS - ids.length).flatMap(idOf));
      this.#looks += members.length;
      position = members.at(-1) ?? position;
      if (members.length < STEP) break;
      if (this.#looks >= endsAt) {
        this.#partial = { ...partial, ids, count, position };
        return false;
      }
    }
    this.#partial = null;
    this.#add(reader, partial, { ids, count });
    return true;
  }

  #meetsSubject(reader: Reader, { kind, summary }: Member): boolean {
    return hasSubject(reader, kind, summary, this.#filter.subject);
  }

  /** Adds a conversation to the page, when there is a match in it. */
  #add(reader: Reader, { root, latest }: Found['place'], matching: Matching): void {
    if (matching.count === 0) return;
    const thread = findThread(reader, root)?.thread;
    const summary = thread === undefined ? null : viewThreadSummary(reader, thread, matching);
    if (summary !== null) this.#found.push({ place: { root, latest }, summary });
  }

  /** @param stoppedAt how far the walk came, when it did not come to the end */
  #endPage(stoppedAt: MemberPosition | null = null): 'done' {
    const isFull = this.#found.length > this.#page.limit;
    this.#next = isFull ? (this.#found[this.#page.limit - 1]?.place.latest ?? null) : stoppedAt;
    return 'done';
  }
}

/**
 * A filter as conditions of members.
 * @param found the numbers that have its words, when it has any
 */
export function conditionsOf(
  reader: Reader,
  inboxId: InboxId,
  filter: MessageFilter,
  found: MemberHits['found'] | null,
): MemberConditions {
  const of = (kind: MessageKind) => {
    const page = { isDescending: true, position: null };
    const selection = selectionOf(reader, { inboxId, kind }, filter, page);
    const { from, to } = selection;
    return amongHits(selection, filter, found === null ? null : { within: found[kind], from, to });
  };
  return { received: of('received'), sent: of('sent') };
}

interface Found {
  /** As the walk met it. */
  readonly place: Pick<ThreadActivity, 'root' | 'latest'>;
  readonly summary: ThreadSummary;
}

/** What is known of a conversation whose members are being looked at. */
type BegunThread = Matching &
  Found['place'] & {
    /** Of the last member that was looked at. */
    readonly position: MemberPosition | null;
  };

function matchesOf(members: readonly Member[]): MaskedMembers {
  return { count: members.length, newest: members };
}

/** None where its line does not tell it (damage). */
export function idOf({ summary }: Member): MessageId[] {
  const id = idField<MessageId>(summary, 'id');
  return id === null ? [] : [id];
}
