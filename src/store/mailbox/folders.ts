import { type InboxId, idFromBytes, idToBytes } from '../../domain/ids.js';
import { joinKey, u8, u48 } from '../engine/keys.js';
import { asItIs, type LentBytes, type Reader, rawValue, type Table, type Writer } from '../engine/tables.js';

/** An inbox holds two kinds of message, each numbered and listed apart. */
export type MessageKind = 'received' | 'sent';

/** The messages of one kind in one inbox, with their own sequence numbers and lists. */
export interface Folder {
  readonly inboxId: InboxId;
  readonly kind: MessageKind;
}

export const KIND_BYTE: Record<MessageKind, number> = { received: 1, sent: 2 };

/** The last key that was made: a change of a message needs the key of its folder a dozen times. */
let lastKey: { readonly inboxId: InboxId; readonly kind: MessageKind; readonly bytes: Buffer } | null = null;

export function folderKey({ inboxId, kind }: Folder): Buffer {
  if (lastKey?.inboxId !== inboxId || lastKey.kind !== kind) {
    lastKey = { inboxId, kind, bytes: joinKey(idToBytes(inboxId), u8(KIND_BYTE[kind])) };
  }
  return lastKey.bytes;
}

/** Length of the key of a folder. The keys of all that is in the folder begin with it. */
export const FOLDER_BYTES = 17;

export const KINDS = Object.keys(KIND_BYTE) as MessageKind[];

/** The kind that a byte of a key stands for. */
export function messageKindOf(byte: number | undefined): MessageKind | undefined {
  return KINDS.find(name => KIND_BYTE[name] === byte);
}

/** The folder that a key begins with. */
export function folderOfKey(key: Buffer): Folder {
  const kind = messageKindOf(key[FOLDER_BYTES - 1]);
  if (kind === undefined) throw new Error('a key names no kind of message: the store is damaged');
  return { inboxId: idFromBytes<InboxId>(key), kind };
}

/** The number in a key of `summaries`. */
export function seqOfKey(key: Buffer): number {
  return key.readUIntBE(FOLDER_BYTES, 6);
}

export interface SequenceKey extends Folder {
  readonly seq: number;
}

const sequenceKey = (key: SequenceKey): Buffer => joinKey(folderKey(key), u48(key.seq));

/**
 * [inbox, kind, seq] -> the JSON bytes of a live message in lists. They are encoded once, when the message changes:
 * that makes lists cheap.
 */
export const summariesTable: Table<SequenceKey, Buffer> = {
  name: 'summaries',
  encodeKey: sequenceKey,
  ...rawValue,
};

/** The first sequence number of a folder; no set has a smaller one. */
export const FIRST_SEQ = 1;

export interface FolderCounters {
  /** The number that the next message gets. */
  readonly nextSeq: number;
  /** Messages that lists show. */
  readonly live: number;
  /** Place in time of the newest message. Numbers and places grow together. */
  readonly lastAt: number;
  /** Grows with every change that lists or counts show: a cached result is valid while the version stays the same. */
  readonly version: number;
  /** Bytes that its messages count for, in Trash or not (`store/records/storage.ts`). */
  readonly bytes: number;
  /** In ascending order; not given when the clock was never set back. */
  readonly shifts?: readonly Shift[];
}

/**
 * The place of a message in time is its instant as long as the clock is never set back. When it is, instants begin anew
 * and places go on: from then on they are later than instants by as much. So messages keep their order, received and
 * sent ones among each other, and each shows the instant that the clock gave it.
 */
export interface Shift {
  /** The first number that it is for. */
  readonly from: number;
  readonly ms: number;
}

/** A clock that goes back and forth for ever makes no more of them; instants then stand still until it catches up. */
const MOST_SHIFTS = 100;
const NUMBERS_BYTES = 30;
const SHIFT_BYTES = 12;

export const folderCountersTable: Table<Folder, FolderCounters> = {
  name: 'mailbox_counters',
  encodeKey: folderKey,
  encodeValue: counters =>
    joinKey(
      ...[counters.nextSeq, counters.live, counters.lastAt, counters.version, counters.bytes].map(u48),
      ...(counters.shifts ?? []).flatMap(({ from, ms }) => [u48(from), u48(ms)]),
    ),
  decodeValue: bytes => ({
    nextSeq: bytes.readUIntBE(0, 6),
    live: bytes.readUIntBE(6, 6),
    lastAt: bytes.readUIntBE(12, 6),
    version: bytes.readUIntBE(18, 6),
    // A migration counts the bytes of folders of older stores.
    bytes: bytes.length > 24 ? bytes.readUIntBE(24, 6) : 0,
    ...(bytes.length > NUMBERS_BYTES ? { shifts: readShifts(bytes) } : {}),
  }),
  gather: asItIs,
};

function readShifts(bytes: LentBytes): readonly Shift[] {
  const shifts: Shift[] = [];
  for (let at = NUMBERS_BYTES; at < bytes.length; at += SHIFT_BYTES) {
    shifts.push({ from: bytes.readUIntBE(at, 6), ms: bytes.readUIntBE(at + 6, 6) });
  }
  return shifts;
}

const EMPTY_FOLDER: FolderCounters = { nextSeq: FIRST_SEQ, live: 0, lastAt: 0, version: 0, bytes: 0 };

export function getCounters(reader: Reader, folder: Folder): FolderCounters {
  return reader.get(folderCountersTable, folder) ?? EMPTY_FOLDER;
}

/**
 * Gives a message that arrives its number and its instant: `nowMs`, or that of the message before it when the clock has
 * gone back by minutes. The message counts as live from here on.
 * @param setBackMs by how much the clock was set back in all (`Clock`)
 */
export function takeSequence(
  writer: Writer,
  folder: Folder,
  nowMs: number,
  setBackMs = 0,
): { seq: number; at: number } {
  const { nextSeq, live, lastAt, version, bytes, shifts = [] } = getCounters(writer, folder);
  const shiftMs = shifts.at(-1)?.ms ?? 0;
  const isShifted = setBackMs > shiftMs && shifts.length < MOST_SHIFTS;
  const ms = isShifted ? setBackMs : shiftMs;
  const place = Math.max(nowMs + setBackMs, lastAt);
  const next = isShifted ? [...shifts, { from: nextSeq, ms }] : shifts;
  writer.put(folderCountersTable, folder, {
    nextSeq: nextSeq + 1,
    live: live + 1,
    lastAt: place,
    version: version + 1,
    bytes,
    ...(next.length === 0 ? {} : { shifts: next }),
  });
  return { seq: nextSeq, at: place - ms };
}

/** By how much the place of a message in time is later than its instant. */
export function shiftOf({ shifts = [] }: FolderCounters, seq: number): number {
  return shifts.findLast(({ from }) => from <= seq)?.ms ?? 0;
}

/** Counts a change of an existing message; `liveChange` is what it adds to the number of live messages. */
export function countChange(writer: Writer, folder: Folder, liveChange: 1 | 0 | -1): void {
  writer.update(folderCountersTable, folder, (before = EMPTY_FOLDER) => ({
    ...before,
    live: before.live + liveChange,
    version: before.version + 1,
  }));
}

/** Counts bytes for a folder, more or less; lists do not show them. */
export function countFolderBytes(writer: Writer, folder: Folder, change: number): void {
  writer.update(folderCountersTable, folder, (before = EMPTY_FOLDER) => ({
    ...before,
    bytes: Math.max(0, before.bytes + change),
  }));
}

export interface SummaryEntry {
  readonly seq: number;
  readonly summary: Buffer;
}

/** Summaries of live messages with numbers from `from` up to but not including `to`. */
export function scanSummaries(
  reader: Reader,
  folder: Folder,
  range: {
    readonly from: number;
    readonly to: number;
    readonly isDescending: boolean;
    readonly limit: number;
  },
): SummaryEntry[] {
  return reader
    .scan(summariesTable, {
      from: sequenceKey({ seq: range.from, ...folder }),
      to: sequenceKey({ seq: range.to, ...folder }),
      reverse: range.isDescending,
      limit: range.limit,
    })
    .map(({ key, value }) => ({ seq: seqOfKey(key), summary: value }));
}

/**
 * Single values of summaries, which are kept as the JSON bytes that lists answer with, without decoding the
 * rest.
 */

/**
 * Where the value of a field begins, or -1. Quotes inside values are escaped, so these bytes occur only at the field
 * itself.
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

/** Replaces the id in a field, in place. */
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

/** Numbers from `from` up to but not including `to`. */
export interface Numbers {
  readonly from: number;
  readonly to: number;
}

/** Numbers within which instants grow, and by how much places are later there. */
interface Run extends Numbers {
  readonly shiftMs: number;
}

function runsOf({ nextSeq, shifts = [] }: FolderCounters): readonly Run[] {
  const starts = [{ from: FIRST_SEQ, ms: 0 }, ...shifts];
  return starts.map(({ from, ms }, at) => ({ from, to: starts[at + 1]?.from ?? nextSeq, shiftMs: ms }));
}

/**
 * The numbers of the messages from an instant on and before another, with the gaps between them: there is none unless
 * the clock was set back.
 */
export function numbersBetween(
  reader: Reader,
  folder: Folder,
  after: number | null,
  before: number | null,
): Numbers & { readonly gaps?: readonly Numbers[] } {
  const found = runsOf(getCounters(reader, folder)).map(run => ({
    from: after === null ? run.from : firstSince(reader, folder, run, after),
    to: before === null ? run.to : firstSince(reader, folder, run, before),
  }));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const ranges = found.filter(({ from, to }) => to > from);
  const [first, ...others] = ranges;
  if (first === undefined) return { from: FIRST_SEQ, to: FIRST_SEQ };
  const gaps = others.map(({ from }, at) => ({ from: ranges[at]?.to ?? from, to: from }));
  return {
    from: first.from,
    to: others.at(-1)?.to ?? first.to,
    gaps: gaps.filter(({ from, to }) => to > from),
  };
}

/** The first number whose message has this place in time or a later one. */
export function firstPlaced(reader: Reader, folder: Folder, place: number): number {
  const counters = getCounters(reader, folder);
  for (const run of runsOf(counters)) {
    const first = firstSince(reader, folder, run, place - run.shiftMs);
    if (firstFrom(reader, folder, first, run.to) !== undefined) return first;
  }
  return counters.nextSeq;
}

/**
 * The first number of a run whose message is of this instant or later. Numbers and instants grow together there, so it
 * is found by binary search, reading about twenty messages.
 */
function firstSince(reader: Reader, folder: Folder, run: Numbers, instant: number): number {
  let low = run.from;
  let high = run.to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = firstFrom(reader, folder, middle, high);
    if (entry === undefined || instantOf(entry.summary) >= instant) high = middle;
    else low = entry.seq + 1;
  }
  return low;
}

/** The first live message with a number from `seq` up to but not including `end`. */
function firstFrom(reader: Reader, folder: Folder, seq: number, end: number): SummaryEntry | undefined {
  if (seq >= end) return undefined;
  const summary = reader.get(summariesTable, { seq, ...folder });
  if (summary !== undefined) return { seq, summary };
  return scanSummaries(reader, folder, { from: seq, to: end, isDescending: false, limit: 1 })[0];
}
