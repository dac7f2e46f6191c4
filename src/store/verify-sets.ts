import { type InboxId, idFromBytes } from '../domain/ids.js';
import { BLOCK_BITS, emptyWords, loadBlock, offsetsOf, seqAt, sizeOf } from './bit-block.js';
import { labelCountsTable } from './label-counts.js';
import {
  FIRST_SEQ,
  type Mailbox,
  type MessageKind,
  mailboxCountersTable,
  mailboxOfKey,
  seqOfKey,
  summariesTable,
} from './mailboxes.js';
import { hashedAddress, postingsTable, readPostingKey, type StoredTerm, type Term } from './postings.js';
import type { Reader } from './reader-writer.js';
import type { Ledger } from './verify-ledger.js';
import { walkTable } from './walk-table.js';

/** How entries of a mailbox's indexes are called, by whoever expects or finds them. */
export const mailboxEntry = {
  summary: (mailbox: Mailbox, seq: number): string => `line of ${placeOf(mailbox, seq)}`,
  /** Every number that was given is live or gone. */
  number: (mailbox: Mailbox, seq: number): string => `state of ${placeOf(mailbox, seq)}`,
  member: (mailbox: Mailbox, seq: number, term: Exclude<Term, { type: 'gone' }>): string =>
    memberEntry(mailbox, seq, asStored(term)),
};

function asStored(term: Exclude<Term, { type: 'gone' }>): Exclude<StoredTerm, { type: 'gone' }> {
  return term.type === 'label' || term.type === 'thread'
    ? term
    : { type: term.type, hash: hashedAddress(term.address).toString('hex') };
}

function placeOf({ inboxId, kind }: Mailbox, seq: number): string {
  return `${kind} message number ${seq} of inbox ${inboxId}`;
}

function memberEntry(mailbox: Mailbox, seq: number, term: Exclude<StoredTerm, { type: 'gone' }>): string {
  return `${nameOfTerm(term)} of ${placeOf(mailbox, seq)}`;
}

function nameOfTerm(term: Exclude<StoredTerm, { type: 'gone' }>): string {
  switch (term.type) {
    case 'label':
      return `label ${JSON.stringify(term.label)}`;
    case 'thread':
      return `thread ${term.root}`;
    default:
      return `${term.type} ${term.hash}`;
  }
}

const labelCountEntry = (inboxId: InboxId, kind: MessageKind, label: string, count: number): string =>
  `count ${count} of ${kind} messages with label ${JSON.stringify(label)} of inbox ${inboxId}`;

/** Finds what the sets hold, and expects the counts of labels that follow from them. */
export function findSets(reader: Reader, ledger: Ledger, isLeaving: (inboxId: InboxId) => boolean): void {
  const words = emptyWords();
  let label: { readonly mailbox: Mailbox; readonly name: string; count: number } | null = null;
  const closeLabel = (): void => {
    if (label !== null)
      ledger.expect(labelCountEntry(label.mailbox.inboxId, label.mailbox.kind, label.name, label.count));
    label = null;
  };
  for (const { key, value } of walkTable(reader, postingsTable)) {
    const { mailbox, term, block } = readPostingKey(key);
    if (term.type !== 'label' || label?.name !== term.label || !isSame(label.mailbox, mailbox)) closeLabel();
    if (term.type === 'label') {
      label ??= { mailbox, name: term.label, count: 0 };
      label.count += sizeOf(value);
    }
    if (term.type === 'gone' && isLeaving(mailbox.inboxId)) continue;
    loadBlock(words, value);
    for (const offset of offsetsOf(words, false, BLOCK_BITS)) {
      const seq = seqAt(block, offset);
      ledger.find(term.type === 'gone' ? mailboxEntry.number(mailbox, seq) : memberEntry(mailbox, seq, term));
    }
  }
  closeLabel();
}

function isSame(a: Mailbox, b: Mailbox): boolean {
  return a.inboxId === b.inboxId && a.kind === b.kind;
}

const INBOX_BYTES = 16;

/** Finds the counts that the store keeps of labels. */
export function findLabelCounts(reader: Reader, ledger: Ledger): void {
  for (const { key, value } of walkTable(reader, labelCountsTable)) {
    const inboxId = idFromBytes<InboxId>(key);
    const label = key.toString('utf8', INBOX_BYTES);
    for (const kind of ['received', 'sent'] as const) {
      if (value[kind] > 0) ledger.find(labelCountEntry(inboxId, kind, label, value[kind]));
    }
    if (value.received + value.sent === 0)
      ledger.find(`empty count of label ${JSON.stringify(label)} of inbox ${inboxId}`);
  }
}

/** Finds the lines that lists show. */
export function findSummaries(reader: Reader, ledger: Ledger): void {
  for (const { key } of walkTable(reader, summariesTable)) {
    ledger.find(mailboxEntry.summary(mailboxOfKey(key), seqOfKey(key)));
  }
}

/** What the records of a mailbox come to. */
export interface MailboxTally {
  live: number;
  lastSeq: number;
  lastAt: number;
}

/** Finds what counters say of each mailbox, and expects a state of every number that they gave. */
export function findCounters(
  reader: Reader,
  ledger: Ledger,
  tallies: ReadonlyMap<string, MailboxTally>,
  isLeaving: (inboxId: InboxId) => boolean,
): void {
  for (const { key, value } of walkTable(reader, mailboxCountersTable)) {
    const mailbox = mailboxOfKey(key);
    const tally = tallies.get(tallyKey(mailbox));
    const lastSeq = Math.max(value.nextSeq - 1, 0);
    ledger.find(countersEntry(mailbox, value.live));
    if ((tally?.lastSeq ?? 0) > lastSeq)
      ledger.find(`last number ${lastSeq} of ${nameOf(mailbox)}, with later messages`);
    if ((tally?.lastAt ?? 0) > value.lastAt)
      ledger.find(`last instant ${value.lastAt} of ${nameOf(mailbox)}, with later messages`);
    if (tally === undefined) ledger.expect(countersEntry(mailbox, 0));
    if (isLeaving(mailbox.inboxId)) continue;
    for (let seq = FIRST_SEQ; seq < value.nextSeq; seq++) ledger.expect(mailboxEntry.number(mailbox, seq));
  }
  for (const [name, { live }] of tallies) ledger.expect(`counter of ${name}: ${live} live`);
}

export function tallyKey(mailbox: Mailbox): string {
  return nameOf(mailbox);
}

function nameOf({ inboxId, kind }: Mailbox): string {
  return `${kind} messages of inbox ${inboxId}`;
}

function countersEntry(mailbox: Mailbox, live: number): string {
  return `counter of ${nameOf(mailbox)}: ${live} live`;
}
