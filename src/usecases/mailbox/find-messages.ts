import type { MessageId } from '../../domain/ids.js';
import { foldCase, type MessageFilter } from '../../domain/message-filter.js';
import type { NumberSet } from '../../store/bitmap/number-set.js';
import type { Reader } from '../../store/engine/tables.js';
import {
  type Folder,
  idField,
  type MessageKind,
  numbersBetween,
  type SummaryEntry,
  scanSummaries,
  summariesTable,
  textField,
} from '../../store/mailbox/folders.js';
import { getSent } from '../../store/mailbox/messages.js';
import { getLabelCount, KNOWN_VERDICTS, type Term } from '../../store/mailbox/postings.js';
import { maskOf, type Selection, selectMessages } from '../../store/mailbox/select-messages.js';

/** Where a page begins and which way it goes. */
export interface PageRequest {
  readonly isDescending: boolean;
  readonly limit: number;
  /** Number of the message to go on behind; null at the start. */
  readonly position: number | null;
}

export interface FoundMessages {
  readonly entries: readonly SummaryEntry[];
  /** Position for the next page; null at the end. */
  readonly next: number | null;
}

/** Messages that one page may look at for what no index knows (subjects): some milliseconds. */
export const MAX_LOOKED_AT = 1_000;
/** Messages read at a time, at least as many as the page can take. */
const LOOK_STEP = 100;

/** Numbers that were found elsewhere (`search/hits.ts`), in the range that is known. */
export interface KnownHits {
  readonly within: NumberSet;
  readonly from: number;
  readonly to: number;
}

/**
 * One page of the messages of a folder that meet a filter.
 * @param hits those that have the words of the filter, when it has any; the page ends with their range
 */
export function findMessages(
  reader: Reader,
  folder: Folder,
  filter: MessageFilter,
  page: PageRequest,
  hits: KnownHits | null = null,
): FoundMessages {
  const selection = amongHits(selectionOf(reader, folder, filter, page), filter, hits);
  if (selection.to <= selection.from) return { entries: [], next: null };
  const walk = isUnrestricted(selection) ? walkSummaries : walkSets;
  const { subject } = filter;
  return subject === null
    ? walk(reader, folder, selection, page)
    : searchSubjects(reader, folder, selection, page, subject, walk);
}

/**
 * Lines of messages that are live and meet a filter, its words aside, by their numbers; null for others. The filter is
 * made ready once for all of them, and good as long as the reader.
 */
export function filterOf(
  reader: Reader,
  folder: Folder,
  filter: MessageFilter,
): (seq: number) => SummaryEntry | null {
  const mask = maskOf(
    reader,
    folder,
    selectionOf(reader, folder, filter, { isDescending: true, position: null }),
  );
  return seq => {
    const summary = mask.has(seq) ? reader.get(summariesTable, { seq, ...folder }) : undefined;
    const isMet = summary !== undefined && hasSubject(reader, folder.kind, summary, filter.subject);
    return isMet ? { seq, summary } : null;
  };
}

type Walk = typeof walkSets;

/**
 * Reads messages that the sets select until the page is full or the limit of reads is reached; then the page may be
 * short.
 */
function searchSubjects(
  reader: Reader,
  folder: Folder,
  selection: Selection,
  page: PageRequest,
  subject: string,
  walk: Walk,
): FoundMessages {
  const { isDescending, limit } = page;
  const kept: SummaryEntry[] = [];
  let rest = selection;
  let next: number | null = null;
  const step = Math.max(LOOK_STEP, limit);
  for (let looked = 0; looked < MAX_LOOKED_AT && kept.length <= limit; looked += step) {
    const found = walk(reader, folder, rest, { ...page, limit: step });
    kept.push(...found.entries.filter(({ summary }) => hasSubject(reader, folder.kind, summary, subject)));
    next = found.next;
    if (next === null) break;
    rest = goOnBehind(rest, next, isDescending);
  }
  if (kept.length <= limit) return { entries: kept, next };
  const shown = kept.slice(0, limit);
  return { entries: shown, next: shown.at(-1)?.seq ?? null };
}

/** The part of the selection by a filter that is among these numbers. */
export function amongHits(selection: Selection, filter: MessageFilter, hits: KnownHits | null): Selection {
  if (filter.terms.length > 0 && hits === null) throw new Error('words are looked for by way of the index');
  if (hits === null) return selection;
  const { within, from, to } = hits;
  return { ...selection, from: Math.max(from, selection.from), to: Math.min(to, selection.to), within };
}

/** The filter as sets and bounds, its words aside; the position of a page is a bound too. */
export function selectionOf(
  reader: Reader,
  folder: Folder,
  filter: MessageFilter,
  page: { readonly isDescending: boolean; readonly position: number | null },
): Selection {
  const { labels, authentication } = filter;
  const verdicts = (
    authentication === 'unknown' ? KNOWN_VERDICTS : authentication === null ? [] : [authentication]
  ).map((verdict): Term => ({ type: 'authentication', verdict }));
  const isUnknown = authentication === 'unknown';
  const addresses: Term[] = [];
  if (filter.from !== null) addresses.push({ type: 'from', address: filter.from });
  if (filter.recipient !== null) addresses.push({ type: 'recipient', address: filter.recipient });
  const byCount = (names: readonly string[]): Term[] =>
    names
      .map(label => ({ label, count: getLabelCount(reader, folder.inboxId, label)[folder.kind] }))
      .sort((a, b) => a.count - b.count)
      .map(({ label }): Term => ({ type: 'label', label }));
  const whole: Selection = {
    all: [...addresses, ...byCount(labels.all), ...(isUnknown ? [] : verdicts)],
    any: byCount(labels.any).reverse(),
    none: [...(isUnknown ? verdicts : []), ...byCount(labels.none).reverse()],
    ...numbersBetween(reader, folder, filter.after, filter.before),
  };
  return page.position === null ? whole : goOnBehind(whole, page.position, page.isDescending);
}

/** The part of a selection after a position. */
function goOnBehind(selection: Selection, position: number, isDescending: boolean): Selection {
  const { from, to } = selection;
  return isDescending
    ? { ...selection, to: Math.min(to, position) }
    : { ...selection, from: Math.max(from, position + 1) };
}

/** Does it select every live message between its bounds? */
export function isUnrestricted({ all, any, none, gaps = [], within }: Selection): boolean {
  return all.length + any.length + none.length + gaps.length === 0 && within === undefined;
}

function walkSummaries(
  reader: Reader,
  folder: Folder,
  selection: Selection,
  page: PageRequest,
): FoundMessages {
  const { from, to } = selection;
  const { isDescending, limit } = page;
  const entries = scanSummaries(reader, folder, { from, to, isDescending, limit: limit + 1 });
  if (entries.length <= limit) return { entries, next: null };
  const shown = entries.slice(0, limit);
  return { entries: shown, next: shown.at(-1)?.seq ?? null };
}

function walkSets(reader: Reader, folder: Folder, selection: Selection, page: PageRequest): FoundMessages {
  const { isDescending, limit } = page;
  const { seqs, stoppedAt } = selectMessages(reader, folder, selection, { isDescending, limit: limit + 1 });
  const entries: SummaryEntry[] = [];
  for (const seq of seqs.slice(0, limit)) {
    const summary = reader.get(summariesTable, { seq, ...folder });
    if (summary !== undefined) entries.push({ seq, summary });
  }
  // Behind the last block that was looked at, in the direction of the walk.
  const stop = stoppedAt === null ? null : isDescending ? stoppedAt : stoppedAt - 1;
  // A number without its line (damage) makes the page short, but does not end the list.
  return { entries, next: seqs.length > limit ? (seqs[limit - 1] ?? null) : stop };
}

/**
 * Does the subject of a message contain this part, in whatever letter case?
 * @param summary its line in lists
 * @param part folded already; null: every subject does
 */
export function hasSubject(reader: Reader, kind: MessageKind, summary: Buffer, part: string | null): boolean {
  if (part === null) return true;
  const subject = subjectOf(reader, kind, summary);
  return subject !== null && foldCase(subject).includes(part);
}

/** The line of a received message tells it; that of a sent message does not, and its record is read. */
function subjectOf(reader: Reader, kind: MessageKind, summary: Buffer): string | null {
  if (kind === 'received') return textField(summary, 'subject');
  const id = idField<MessageId>(summary, 'id');
  return id === null ? null : (getSent(reader, id)?.subject ?? null);
}
