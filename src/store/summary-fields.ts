import {
  FIRST_SEQ,
  getCounters,
  type Mailbox,
  type SummaryEntry,
  scanSummaries,
  summariesTable,
} from './mailboxes.js';
import type { Reader } from './reader-writer.js';

/**
 * Single values of summaries, which are kept as the JSON bytes that lists answer with, without decoding the
 * rest.
 */

/**
 * Where the value of a field begins, or -1. A quote within a value is escaped, so that these bytes stand only
 * before the field's own value.
 */
export function fieldStart(summary: Buffer, name: string): number {
  const at = summary.indexOf(`"${name}":`);
  return at < 0 ? -1 : at + name.length + 3;
}

const UUID_LENGTH = 36;

/** The id in a field; null when the field is absent or null. */
export function idField<Id extends string>(summary: Buffer, name: string): Id | null {
  const start = fieldStart(summary, name);
  if (summary[start] !== QUOTE) return null;
  return summary.toString('latin1', start + 1, start + 1 + UUID_LENGTH) as Id;
}

/** Writes another id over the one in a field. */
export function replaceIdField(summary: Buffer, name: string, id: string): void {
  summary.write(id, fieldStart(summary, name) + 1, UUID_LENGTH, 'latin1');
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The text in a field; null when the field is absent or null, or its bytes are damaged. */
export function textField(summary: Buffer, name: string): string | null {
  const start = fieldStart(summary, name);
  if (summary[start] !== QUOTE) return null;
  let end = start + 1;
  while (end < summary.length && summary[end] !== QUOTE) end += summary[end] === BACKSLASH ? 2 : 1;
  try {
    return JSON.parse(summary.toString('utf8', start, end + 1)) as string;
  } catch {
    return null;
  }
}

const INSTANT_LENGTH = '"2026-01-31T12:00:00.000Z"'.length;

/** When the message was received or submitted. */
export function instantOf(summary: Buffer): number {
  const received = fieldStart(summary, 'received_at');
  const at = received < 0 ? fieldStart(summary, 'created_at') : received;
  return Date.parse(summary.toString('latin1', at + 1, at + INSTANT_LENGTH - 1));
}

/**
 * The number from which on messages of a mailbox are of this instant or later: numbers and instants grow
 * together, so it is found by halving, looking at some twenty messages.
 */
export function firstSince(reader: Reader, mailbox: Mailbox, instant: number): number {
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
