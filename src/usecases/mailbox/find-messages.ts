import type { MessageId } from '../../domain/ids.js';
import { foldCase, type MessageFilter } from '../../domain/message-filter.js';
import type { Reader } from '../../store/engine/tables.js';
import {
  FIRST_SEQ,
  firstSince,
  getCounters,
  type Mailbox,
  type SummaryEntry,
  scanSummaries,
  summariesTable,
  textField,
} from '../../store/mailbox/mailboxes.js';
import { getSent } from '../../store/mailbox/messages.js';
import { getLabelCount, type Term } from '../../store/mailbox/postings.js';
import { type Selection, selectMessages } from '../../store/mailbox/select-messages.js';

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
    kept.push(
      ...found.entries.filter(({ summary }) =>
        mailbox.kind === 'sent' ? sentHasSubject(reader, summary, subject) : hasSubject(summary, subject),
      ),
    );
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
  return hasFoldedSubject(textField(summary, 'subject'), subject);
}

/** The same of a subject that is at hand. */
export function hasFoldedSubject(text: string | null, subject: string): boolean {
  return text !== null && foldCase(text).includes(subject);
}

/** Does the subject of a sent message contain `subject` (folded already)? Its line in lists does not show it. */
export function sentHasSubject(reader: Reader, summary: Buffer, subject: string): boolean {
  const { id } = JSON.parse(summary.toString('utf8')) as { readonly id: MessageId };
  return foldCase(getSent(reader, id)?.subject ?? '').includes(subject);
}
