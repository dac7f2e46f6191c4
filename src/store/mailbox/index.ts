import type { Authentication } from '../../domain/authentication.js';
import { type InboxId, idToBytes, type MessageId, type ThreadId } from '../../domain/ids.js';
import { joinKey, range, u48 } from '../engine/keys.js';
import { bytesKey, jsonValue, type Reader, type Table, type Writer } from '../engine/tables.js';
import { moveInThreads, type ThreadMember } from '../threads/move.js';
import { countChange, type MessageKind, summariesTable } from './folders.js';
import { addPosting, changeLabelCount, type KnownVerdict, removePosting, type Term } from './postings.js';

/** What the indexes of a folder know of a message, received or sent. */
export interface IndexedMessage extends ThreadMember {
  readonly id: MessageId;
  /** Dense number within the folder, in the order of arrival, from 1. */
  readonly seq: number;
  /** In binary order. */
  readonly labels: readonly string[];
  /** Mailboxes that a search by sender finds; lower case, each once. */
  readonly senders: readonly string[];
  /** Mailboxes that a search by recipient finds; lower case, each once. */
  readonly recipients: readonly string[];
  /**
   * The conversation it belongs to, by the id that this was shown by when the message joined it
   * (`canonicalThread` tells today's); null when it is in none.
   */
  readonly threadId: ThreadId | null;
  readonly trash: TrashPlace | null;
  /**
   * Who has written it, as far as that was found out. Absent or null, the verdict is `unknown`: of what was sent from
   * here, of mail that is not ready, and of mail from before this was looked for.
   */
  readonly authentication?: Authentication | null;
}

/**
 * Brings every index of a folder from one state of a message to the next: its line in lists, counters, sets of labels,
 * addresses and verdicts, Trash, conversation. `before` is null for a message that arrives (`takeSequence` has counted it),
 * `after` is null for one that is erased. `line` is what lists show of it while it is live; null leaves what is there.
 * Called by `saveMessage` and `removeMessage`, which keep record and indexes together.
 *
 * Nothing else changes these indexes, so they always agree with the records, and the version of the folder grows with
 * each change: cached pages and blocks rely on it.
 */
export function moveInIndex(
  writer: Writer,
  before: IndexedMessage | null,
  after: IndexedMessage | null,
  line: Buffer | null,
): void {
  const message = after ?? before;
  if (message === null) return;
  moveInSets(writer, message, before, after);
  if (before !== null) moveInLists(writer, before, isLive(before), after !== null && isLive(after));
  moveInTrash(writer, message, before?.trash ?? null, after?.trash ?? null);
  if (after !== null && isLive(after) && line !== null) writer.put(summariesTable, after, line);
  moveInThreads(writer, before, after, line);
}

function isLive(message: IndexedMessage): boolean {
  return message.trash === null;
}

function moveInSets(
  writer: Writer,
  message: IndexedMessage,
  before: IndexedMessage | null,
  after: IndexedMessage | null,
): void {
  const old = setsOf(before);
  const now = setsOf(after);
  moveInKind(writer, message, old.labels, now.labels, label => ({ type: 'label', label }));
  moveInKind(writer, message, old.senders, now.senders, address => ({ type: 'from', address }));
  moveInKind(writer, message, old.recipients, now.recipients, address => ({ type: 'recipient', address }));
  moveInVerdicts(writer, message, knownVerdict(old), knownVerdict(now));
}

type Sets = Pick<IndexedMessage, 'labels' | 'senders' | 'recipients' | 'authentication'>;

const NO_SETS: Sets = { labels: [], senders: [], recipients: [] };

/** The label, address, verdict and thread sets that a message is in; none while it is in Trash. */
function setsOf(message: IndexedMessage | null): Sets {
  return message !== null && isLive(message) ? message : NO_SETS;
}

/** The verdict by whose set a message is found; null where it is `unknown`. */
export function knownVerdict({
  authentication,
}: Pick<IndexedMessage, 'authentication'>): KnownVerdict | null {
  const verdict = authentication?.verdict ?? 'unknown';
  return verdict === 'unknown' ? null : verdict;
}

function moveInVerdicts(
  writer: Writer,
  message: IndexedMessage,
  before: KnownVerdict | null,
  after: KnownVerdict | null,
): void {
  if (before === after) return;
  if (before !== null) leaveSet(writer, message, { type: 'authentication', verdict: before });
  if (after !== null) enterSet(writer, message, { type: 'authentication', verdict: after });
}

function moveInKind(
  writer: Writer,
  message: IndexedMessage,
  before: readonly string[],
  after: readonly string[],
  termOf: (name: string) => Term,
): void {
  if (before === after) return;
  // Of three labels a list is searched faster than a set is made.
  const [old, now] = before.length + after.length > 16 ? [new Set(before), new Set(after)] : [null, null];
  for (const name of before)
    if (!(now?.has(name) ?? after.includes(name))) leaveSet(writer, message, termOf(name));
  for (const name of after)
    if (!(old?.has(name) ?? before.includes(name))) enterSet(writer, message, termOf(name));
}

function enterSet(writer: Writer, message: IndexedMessage, term: Term): void {
  if (addPosting(writer, message, term, message.seq) && term.type === 'label') {
    changeLabelCount(writer, message.inboxId, term.label, message.kind, 1);
  }
}

function leaveSet(writer: Writer, message: IndexedMessage, term: Term): void {
  if (removePosting(writer, message, term, message.seq) && term.type === 'label') {
    changeLabelCount(writer, message.inboxId, term.label, message.kind, -1);
  }
}

function moveInLists(writer: Writer, message: IndexedMessage, wasLive: boolean, isLiveNow: boolean): void {
  if (wasLive === isLiveNow) {
    countChange(writer, message, 0);
    return;
  }
  countChange(writer, message, isLiveNow ? 1 : -1);
  if (isLiveNow) removePosting(writer, message, { type: 'gone' }, message.seq);
  else {
    addPosting(writer, message, { type: 'gone' }, message.seq);
    writer.remove(summariesTable, message);
  }
}

function moveInTrash(
  writer: Writer,
  message: IndexedMessage,
  before: TrashPlace | null,
  after: TrashPlace | null,
): void {
  const { inboxId, kind, id } = message;
  if (before !== null) removeTrash(writer, inboxId, before.number);
  if (after !== null) {
    putTrash(writer, inboxId, after.number, { kind, id, restorableUntil: after.restorableUntil });
  }
}

/** What a message in Trash knows of it. */
export interface TrashPlace {
  /** Number in the order of trashing within the inbox, from 1: the list's order and its cursors. */
  readonly number: number;
  readonly deletedAt: number;
  /** From this instant on it cannot be restored, even if the sweeper has not erased it yet. */
  readonly restorableUntil: number;
}

export interface TrashedMessage {
  readonly kind: MessageKind;
  readonly id: MessageId;
  readonly restorableUntil: number;
}

/** [inbox, number] -> the message in Trash. */
export const trashTable: Table<Buffer, TrashedMessage> = {
  name: 'trash',
  encodeKey: bytesKey,
  ...jsonValue<TrashedMessage>(1),
};

/** Inbox -> the last number given. */
export const trashNumbersTable: Table<InboxId, number> = {
  name: 'trash_numbers',
  encodeKey: idToBytes,
  ...jsonValue<number>(1),
};

function trashKey(inboxId: InboxId, number: number): Buffer {
  return joinKey(idToBytes(inboxId), u48(number));
}

export function takeTrashNumber(writer: Writer, inboxId: InboxId): number {
  const number = (writer.get(trashNumbersTable, inboxId) ?? 0) + 1;
  writer.put(trashNumbersTable, inboxId, number);
  return number;
}

function putTrash(writer: Writer, inboxId: InboxId, number: number, message: TrashedMessage): void {
  writer.put(trashTable, trashKey(inboxId, number), message);
}

export function removeTrash(writer: Writer, inboxId: InboxId, number: number): void {
  writer.remove(trashTable, trashKey(inboxId, number));
}

/** What an inbox's Trash holds, last trashed first, numbers below `before`. */
export function scanTrash(
  reader: Reader,
  inboxId: InboxId,
  before: number | null,
  limit: number,
): { readonly number: number; readonly message: TrashedMessage }[] {
  const trashed = range(idToBytes(inboxId), null, before === null ? null : trashKey(inboxId, before));
  return reader
    .scan(trashTable, { ...trashed, reverse: true, limit })
    .map(({ key, value }) => ({ number: key.readUIntBE(16, 6), message: value }));
}
