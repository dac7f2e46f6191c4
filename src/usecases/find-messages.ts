import { foldCase, type MessageFilter } from '../domain/message-filter.js';
import { getLabelCount } from '../store/label-counts.js';
import {
  FIRST_SEQ,
  getCounters,
  type Mailbox,
  type SummaryEntry,
  scanSummaries,
  summariesTable,
} from '../store/mailboxes.js';
import type { Term } from '../store/postings.js';
import type { Reader } from '../store/reader-writer.js';
import { type Selection, selectMessages } from '../store/select-messages.js';

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

/** Summaries that one page may look at for what no index knows (subjects): some milliseconds. */
const MAX_LOOKED_AT = 1_000;
/** So many at a time. */
const LOOK_STEP = 100;

/** One page of the messages of a mailbox that meet a filter. */
export function findMessages(
  reader: Reader,
  mailbox: Mailbox,
  filter: MessageFilter,
  page: PageRequest,
): FoundMessages {
  const selection = selectionOf(reader, mailbox, filter, page);
  if (selection.to <= selection.from) return { entries: [], next: null };
  const walk = isUnrestricted(selection) ? walkSummaries : walkSets;
  const { subject } = filter;
  return subject === null
    ? walk(reader, mailbox, selection, page)
    : searchSubjects(reader, mailbox, selection, page, subject, walk);
}

type Walk = typeof walkSets;

/** Looks at what the sets have in common until the page is full or has looked at enough. */
function searchSubjects(
  reader: Reader,
  mailbox: Mailbox,
  selection: Selection,
  page: PageRequest,
  subject: string,
  walk: Walk,
): FoundMessages {
  const { isDescending, limit } = page;
  const kept: SummaryEntry[] = [];
  let rest = selection;
  let next: number | null = null;
  for (let looked = 0; looked < MAX_LOOKED_AT && kept.length <= limit; looked += LOOK_STEP) {
    const found = walk(reader, mailbox, rest, { ...page, limit: LOOK_STEP });
    kept.push(...found.entries.filter(({ summary }) => hasSubject(summary, subject)));
    next = found.next;
    if (next === null) break;
    rest = goOnBehind(rest, next, isDescending);
  }
  if (kept.length <= limit) return { entries: kept, next };
  const shown = kept.slice(0, limit);
  return { entries: shown, next: shown.at(-1)?.seq ?? null };
}

/** The filter as sets and bounds; the position of a page is a bound too. */
export function selectionOf(
  reader: Reader,
  mailbox: Mailbox,
  filter: MessageFilter,
  page: { readonly isDescending: boolean; readonly position: number | null },
): Selection {
  const { labels } = filter;
  const addresses: Term[] = [];
  if (filter.from !== null) addresses.push({ type: 'from', address: filter.from });
  if (filter.recipient !== null) addresses.push({ type: 'recipient', address: filter.recipient });
  const byCount = (names: readonly string[]): Term[] =>
    names
      .map(label => ({ label, count: getLabelCount(reader, mailbox.inboxId, label)[mailbox.kind] }))
      .sort((a, b) => a.count - b.count)
      .map(({ label }): Term => ({ type: 'label', label }));
  const whole: Selection = {
    all: [...addresses, ...byCount(labels.all)],
    any: byCount(labels.any).reverse(),
    none: byCount(labels.none).reverse(),
    from: filter.after === null ? FIRST_SEQ : firstSince(reader, mailbox, filter.after),
    to:
      filter.before === null
        ? getCounters(reader, mailbox).nextSeq
        : firstSince(reader, mailbox, filter.before),
  };
  return page.position === null ? whole : goOnBehind(whole, page.position, page.isDescending);
}

/** What is left of a selection behind a position. */
function goOnBehind(selection: Selection, position: number, isDescending: boolean): Selection {
  const { from, to } = selection;
  return isDescending
    ? { ...selection, to: Math.min(to, position) }
    : { ...selection, from: Math.max(from, position + 1) };
}

function isUnrestricted(selection: Selection): boolean {
  return selection.all.length + selection.any.length + selection.none.length === 0;
}

/** Numbers and instants grow together: a time bound is found by halving, looking at some twenty messages. */
function firstSince(reader: Reader, mailbox: Mailbox, instant: number): number {
  let low = FIRST_SEQ;
  let high = getCounters(reader, mailbox).nextSeq;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = firstFrom(reader, mailbox, middle, high);
    if (entry === undefined || instantOf(entry.summary) >= instant) high = middle;
    else low = entry.seq + 1;
  }
  return low;
}

/** The first live message with a number from `seq` up to but not including `end`. */
function firstFrom(reader: Reader, mailbox: Mailbox, seq: number, end: number): SummaryEntry | undefined {
  const summary = reader.get(summariesTable, { ...mailbox, seq });
  if (summary !== undefined) return { seq, summary };
  return scanSummaries(reader, mailbox, { from: seq, to: end, isDescending: false, limit: 1 })[0];
}

/**
 * The value of a field, still JSON, without decoding the rest: a quote within a value is escaped, so that
 * these bytes stand only before the field's own value.
 */
function fieldStart(summary: Buffer, name: string): number {
  const at = summary.indexOf(`"${name}":`);
  return at < 0 ? -1 : at + name.length + 3;
}

const INSTANT_LENGTH = '"2026-01-31T12:00:00.000Z"'.length;

function instantOf(summary: Buffer): number {
  const received = fieldStart(summary, 'received_at');
  const at = received < 0 ? fieldStart(summary, 'created_at') : received;
  return Date.parse(summary.toString('latin1', at + 1, at + INSTANT_LENGTH - 1));
}

function walkSummaries(
  reader: Reader,
  mailbox: Mailbox,
  selection: Selection,
  page: PageRequest,
): FoundMessages {
  const { from, to } = selection;
  const { isDescending, limit } = page;
  const entries = scanSummaries(reader, mailbox, { from, to, isDescending, limit: limit + 1 });
  if (entries.length <= limit) return { entries, next: null };
  const shown = entries.slice(0, limit);
  return { entries: shown, next: shown.at(-1)?.seq ?? null };
}

function walkSets(reader: Reader, mailbox: Mailbox, selection: Selection, page: PageRequest): FoundMessages {
  const { isDescending, limit } = page;
  const { seqs, stoppedAt } = selectMessages(reader, mailbox, selection, { isDescending, limit: limit + 1 });
  const entries: SummaryEntry[] = [];
  for (const seq of seqs.slice(0, limit)) {
    const summary = reader.get(summariesTable, { ...mailbox, seq });
    if (summary !== undefined) entries.push({ seq, summary });
  }
  // Behind the last block that was looked at, in the direction of the walk.
  const stop = stoppedAt === null ? null : isDescending ? stoppedAt : stoppedAt - 1;
  // A number without its line (damage) makes the page short, but does not end the list.
  return { entries, next: seqs.length > limit ? (seqs[limit - 1] ?? null) : stop };
}

/** Does a summary's subject contain `subject` (folded already)? */
export function hasSubject(summary: Buffer, subject: string): boolean {
  const start = fieldStart(summary, 'subject');
  if (summary[start] !== QUOTE) return false;
  let end = start + 1;
  while (summary[end] !== QUOTE) end += summary[end] === BACKSLASH ? 2 : 1;
  const text = JSON.parse(summary.toString('utf8', start, end + 1)) as string;
  return foldCase(text).includes(subject);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
