import { type InboxId, idFromBytes, idToBytes, type ThreadId } from '../../domain/ids.js';
import type { CombinationMask } from '../bitmap/combinations.js';
import { joinKey, range, u8 } from '../engine/keys.js';
import {
  bytesKey,
  type Entry,
  type LentBytes,
  type Reader,
  rawValue,
  type Table,
  type Writer,
} from '../engine/tables.js';
import { KIND_BYTE, KINDS, type MessageKind, messageKindOf } from '../mailbox/folders.js';
import { blocksOfTerm, termKey } from '../mailbox/postings.js';
import { maskOf } from '../mailbox/select-messages.js';
import {
  compareMembers,
  type Member,
  type MemberConditions,
  type MemberPosition,
  readMember,
  threadTerm,
} from './members.js';
import { hashedMessageId, linkKey, rootOfThread, threadLinksTable } from './names.js';

/** How a member of a conversation is counted (`listThreads`). */
export type MemberOutcome = 'received' | 'accepted' | 'rejected' | 'unknown';

export interface ThreadRecord {
  readonly inboxId: InboxId;
  /** The id that it is shown by (`names.ts`). */
  readonly shown: ThreadId;
  /** Messages that belong to it, including those in Trash or being parsed again. It ends with the last one. */
  readonly members: number;
  /** How often a message has joined it or what was merged into it. */
  readonly joins: number;
  /** Members that are shown, by outcome. */
  readonly counts: Readonly<Record<MemberOutcome, number>>;
  /** The first and the last of those; null when there is none. */
  readonly earliest: MemberPosition | null;
  readonly latest: MemberPosition | null;
}

/** Root id (`names.ts`) -> its conversation. */
export const threadsTable: Table<ThreadId, ThreadRecord> = {
  name: 'threads',
  encodeKey: idToBytes,
  encodeValue: thread => {
    const bytes = Buffer.alloc(THREAD_BYTES);
    idToBytes(thread.inboxId).copy(bytes);
    idToBytes(thread.shown).copy(bytes, 16);
    const { accepted, rejected, unknown, received } = thread.counts;
    for (const [index, value] of [
      thread.members,
      thread.joins,
      received,
      accepted,
      rejected,
      unknown,
    ].entries()) {
      bytes.writeUIntBE(value, NUMBERS_AT + 6 * index, 6);
    }
    writePosition(bytes, EARLIEST_AT, thread.earliest);
    writePosition(bytes, LATEST_AT, thread.latest);
    return bytes;
  },
  decodeValue: bytes => {
    const number = (index: number): number => bytes.readUIntBE(NUMBERS_AT + 6 * index, 6);
    const [received, accepted, rejected, unknown] = [number(2), number(3), number(4), number(5)];
    return {
      inboxId: idFromBytes<InboxId>(bytes),
      shown: idFromBytes<ThreadId>(bytes, 16),
      members: number(0),
      joins: number(1),
      counts: { received, accepted, rejected, unknown },
      earliest: readPosition(bytes, EARLIEST_AT),
      latest: readPosition(bytes, LATEST_AT),
    };
  },
};

export const OUTCOMES: readonly MemberOutcome[] = ['received', 'accepted', 'rejected', 'unknown'];
const NO_COUNTS = { received: 0, accepted: 0, rejected: 0, unknown: 0 } as const;

/** Where the parts of a record stand: two ids, six numbers, two positions. */
const NUMBERS_AT = 32;
const POSITION_BYTES = 13;
const EARLIEST_AT = NUMBERS_AT + 6 * 6;
const LATEST_AT = EARLIEST_AT + POSITION_BYTES;
const THREAD_BYTES = LATEST_AT + POSITION_BYTES;

/** Into zeros, which stand for none. */
function writePosition(bytes: Buffer, offset: number, position: MemberPosition | null): void {
  if (position === null) return;
  bytes.writeUIntBE(position.at, offset, 6);
  bytes[offset + 6] = KIND_BYTE[position.kind];
  bytes.writeUIntBE(position.seq, offset + 7, 6);
}

function readPosition(bytes: LentBytes, offset: number): MemberPosition | null {
  const kind = messageKindOf(bytes[offset + 6]);
  return kind === undefined
    ? null
    : { at: bytes.readUIntBE(offset, 6), kind, seq: bytes.readUIntBE(offset + 7, 6) };
}

/** What an entry of the list of conversations says. */
export interface ThreadActivity {
  /** That of the latest member: the list's order and its cursors. */
  readonly latest: MemberPosition;
  readonly root: ThreadId;
  /** It has no other member that is shown. */
  readonly isAlone: boolean;
}

/** [inbox, position of the latest member] -> root and whether it is alone, of conversations with a shown member. */
export const threadActivityTable: Table<Buffer, Buffer> = {
  name: 'thread_activity',
  encodeKey: bytesKey,
  ...rawValue,
};

function activityKey(inboxId: InboxId, latest: MemberPosition): Buffer {
  const key = Buffer.alloc(16 + POSITION_BYTES);
  idToBytes(inboxId).copy(key);
  writePosition(key, 16, latest);
  return key;
}

const activityValue = (root: ThreadId, isAlone: boolean): Buffer =>
  joinKey(idToBytes(root), u8(isAlone ? 1 : 0));

/** An entry of the list. Its root is decoded on demand, because a search needs few of thousands. */
export class ListedThread implements ThreadActivity {
  readonly latest: MemberPosition;
  readonly isAlone: boolean;
  readonly #value: Buffer;

  constructor({ key, value }: Entry<Buffer>) {
    const latest = readPosition(key, 16);
    if (latest === null) throw new Error('a key names no kind of message: the store is damaged');
    this.latest = latest;
    this.isAlone = value[16] === 1;
    this.#value = value;
  }

  get root(): ThreadId {
    return idFromBytes<ThreadId>(this.#value);
  }
}

/** Conversations of an inbox by their latest member, those after `position`. */
export function scanActivity(
  reader: Reader,
  inboxId: InboxId,
  scan: { readonly isDescending: boolean; readonly position: MemberPosition | null; readonly limit: number },
): ThreadActivity[] {
  const { isDescending, position, limit } = scan;
  const prefix = idToBytes(inboxId);
  const last = position === null ? null : activityKey(inboxId, position);
  const threads = isDescending ? range(prefix, null, last) : range(prefix, last);
  return reader
    .scan(threadActivityTable, { ...threads, reverse: isDescending, limit })
    .map(entry => new ListedThread(entry));
}

export function getThread(reader: Reader, root: ThreadId): ThreadRecord | undefined {
  return reader.get(threadsTable, root);
}

/** The conversation that an id stands for, with its root. */
export function findThread(
  reader: Reader,
  id: ThreadId,
): { readonly root: ThreadId; readonly thread: ThreadRecord } | undefined {
  const root = rootOfThread(reader, id);
  const thread = getThread(reader, root);
  return thread === undefined ? undefined : { root, thread };
}

/** The root of the conversation that a Message-ID is tied to in an inbox; null when it is tied to none that is there. */
export function findLinkedThread(reader: Reader, inboxId: InboxId, messageId: string): ThreadId | null {
  const id = reader.get(threadLinksTable, linkKey(inboxId, hashedMessageId(messageId)));
  return id === undefined ? null : (findThread(reader, id)?.root ?? null);
}

/** A conversation that nothing has joined: its first member writes it. */
export function emptyThread(inboxId: InboxId, shown: ThreadId): ThreadRecord {
  return { inboxId, shown, members: 0, joins: 0, counts: NO_COUNTS, earliest: null, latest: null };
}

/** Members that are shown. */
export function memberCount({ counts }: ThreadRecord): number {
  return counts.received + sentCount(counts);
}

export function sentCount(counts: ThreadRecord['counts']): number {
  return counts.accepted + counts.rejected + counts.unknown;
}

/** Writes the next state of a conversation, null when it has ended, and moves it in the list. */
export function putThread(
  writer: Writer,
  root: ThreadId,
  before: ThreadRecord | null,
  after: ThreadRecord | null,
): void {
  const [old, now] = [activityOf(before), activityOf(after)];
  const isSamePlace = old !== null && now !== null && old.key.equals(now.key);
  if (old !== null && !isSamePlace) writer.remove(threadActivityTable, old.key);
  if (now !== null && (!isSamePlace || old.isAlone !== now.isAlone)) {
    writer.put(threadActivityTable, now.key, activityValue(root, now.isAlone));
  }
  if (after === null) writer.remove(threadsTable, root);
  else writer.put(threadsTable, root, after);
}

function activityOf(thread: ThreadRecord | null): { readonly key: Buffer; readonly isAlone: boolean } | null {
  if (thread === null || thread.latest === null) return null;
  return { key: activityKey(thread.inboxId, thread.latest), isAlone: memberCount(thread) === 1 };
}

/** Members that meet conditions. */
export interface MaskedMembers {
  readonly count: number;
  /** The newest first, as many as were asked for. */
  readonly newest: readonly Member[];
}

const NONE: MaskedMembers = { count: 0, newest: [] };

/**
 * Finds members of conversations that meet conditions, for walks over thousands of conversations in one event turn:
 * blocks of the conditions are combined once, and small conversations are decided from their record alone.
 */
export class MemberMask {
  readonly #reader: Reader;
  readonly #inboxId: InboxId;
  readonly #masks: Readonly<Record<MessageKind, CombinationMask>>;

  constructor(reader: Reader, inboxId: InboxId, conditions: MemberConditions) {
    const maskOfKind = (kind: MessageKind) => maskOf(reader, { inboxId, kind }, conditions[kind]);
    this.#reader = reader;
    this.#inboxId = inboxId;
    this.#masks = { received: maskOfKind('received'), sent: maskOfKind('sent') };
  }

  has({ kind, seq }: MemberPosition): boolean {
    return this.#masks[kind].has(seq);
  }

  /** All members of a conversation that meet the conditions; null when its sets would have to be read. */
  ofSmall(thread: ThreadRecord): readonly Member[] | null {
    const { earliest, latest, counts } = thread;
    if (earliest === null || latest === null) return [];
    const known = compareMembers(earliest, latest) === 0 ? [latest] : [latest, earliest];
    if (counts.received + sentCount(counts) !== known.length) return null;
    return known.filter(position => this.has(position)).flatMap(position => this.#read(position));
  }

  /** The same for any conversation; reads each of its blocks. */
  of(root: ThreadId, { counts }: ThreadRecord, limit: number): MaskedMembers {
    const byKind = { received: counts.received, sent: sentCount(counts) };
    const found = KINDS.filter(kind => byKind[kind] > 0).map(kind => this.#ofKind(root, kind, limit));
    const [first = NONE, second = NONE] = found;
    const newest = [...first.newest, ...second.newest].sort((a, b) => compareMembers(b, a));
    return { count: first.count + second.count, newest: newest.slice(0, limit) };
  }

  #ofKind(root: ThreadId, kind: MessageKind, limit: number): MaskedMembers {
    const folder = { inboxId: this.#inboxId, kind };
    const set = termKey(folder, threadTerm(root));
    let count = 0;
    const newest: Member[] = [];
    for (const block of blocksOfTerm(this.#reader, folder, threadTerm(root)).reverse()) {
      const match = this.#masks[kind].match(set, block, limit - newest.length);
      count += match.count;
      for (const seq of match.seqs) newest.push(...this.#read({ kind, seq }));
    }
    return { count, newest };
  }

  #read({ kind, seq }: Pick<MemberPosition, 'kind' | 'seq'>): Member[] {
    return readMember(this.#reader, { inboxId: this.#inboxId, kind, seq });
  }
}
