import type { InboxId, ThreadId } from '../../domain/ids.js';
import type { Selected } from '../bitmap/combinations.js';
import type { Reader } from '../engine/tables.js';
import {
  type Folder,
  firstPlaced,
  getCounters,
  instantOf,
  KIND_BYTE,
  KINDS,
  type MessageKind,
  shiftOf,
  summariesTable,
} from '../mailbox/folders.js';
import { blocksOfTerm, type Term } from '../mailbox/postings.js';
import { type Selection, selectMessages } from '../mailbox/select-messages.js';

/**
 * The members of a conversation that are shown: two sets of message numbers, received and sent, each in the order of
 * time, walked together. They are sets like those of labels, so the cost of a page or a merge does not depend on how
 * many members there are.
 */

/** Position in the order of all messages of an inbox: by place in time (`Shift`), then kind, then number. */
export interface MemberPosition {
  readonly at: number;
  readonly kind: MessageKind;
  readonly seq: number;
}

export function compareMembers(a: MemberPosition, b: MemberPosition): number {
  return a.at - b.at || KIND_BYTE[a.kind] - KIND_BYTE[b.kind] || a.seq - b.seq;
}

export interface ThreadPlace {
  readonly inboxId: InboxId;
  readonly root: ThreadId;
}

export interface Member extends MemberPosition {
  /** What lists show of it. */
  readonly summary: Buffer;
}

export function threadTerm(root: ThreadId): Term & { readonly type: 'thread' } {
  return { type: 'thread', root };
}

export const foldersOf = (inboxId: InboxId): Folder[] => KINDS.map(kind => ({ inboxId, kind }));

/** Conditions that members must meet besides, one for each kind. */
export type MemberConditions = Readonly<Record<MessageKind, Selection>>;

const EVERY_NUMBER = { from: 0, to: 2 ** 48 - 1 } as const;
const NO_CONDITION: Selection = { all: [], any: [], none: [], ...EVERY_NUMBER };
const NO_CONDITIONS: MemberConditions = { received: NO_CONDITION, sent: NO_CONDITION };

export interface MemberScan {
  readonly isDescending: boolean;
  /** Go on behind it; null at the start. */
  readonly position: MemberPosition | null;
  readonly limit: number;
  readonly conditions?: MemberConditions;
}

/** Members in order. Cost: one read for each block of the conversation until `limit` is reached. */
export function scanMembers(reader: Reader, place: ThreadPlace, scan: MemberScan): Member[] {
  const { isDescending, limit, position, conditions = NO_CONDITIONS } = scan;
  const members = foldersOf(place.inboxId).flatMap(folder => {
    const whole = withThread(conditions[folder.kind], place.root);
    const blocks = blocksOfTerm(reader, folder, threadTerm(place.root));
    if (blocks.length === 0) return [];
    const rest = position === null ? whole : behind(reader, folder, whole, position, isDescending);
    return select(reader, folder, rest, scan, blocks).flatMap(seq => readMember(reader, { seq, ...folder }));
  });
  members.sort(isDescending ? (a, b) => compareMembers(b, a) : compareMembers);
  return members.slice(0, limit);
}

/** Numbers of members; the blocks of one conversation are few enough to be looked at in one go. */
function select(
  reader: Reader,
  folder: Folder,
  selection: Selection,
  { isDescending, limit }: MemberScan,
  blocks: readonly number[],
): readonly number[] {
  const seqs: number[] = [];
  for (let rest: Selection | null = selection; rest !== null && seqs.length < limit; ) {
    const page = { isDescending, limit: limit - seqs.length };
    const found: Selected = selectMessages(reader, folder, rest, page, blocks);
    seqs.push(...found.seqs);
    rest = restOf(rest, found.stoppedAt, isDescending);
  }
  return seqs;
}

function restOf(selection: Selection, stoppedAt: number | null, isDescending: boolean): Selection | null {
  if (stoppedAt === null) return null;
  return isDescending ? { ...selection, to: stoppedAt } : { ...selection, from: stoppedAt };
}

/** The conversation's own set is the smallest: it stands first. */
function withThread(selection: Selection, root: ThreadId): Selection {
  return { ...selection, all: [threadTerm(root), ...selection.all] };
}

/** The part of a folder after a position, which may be that of a message of the other kind. */
function behind(
  reader: Reader,
  folder: Folder,
  selection: Selection,
  position: MemberPosition,
  isDescending: boolean,
): Selection {
  const { from, to } = selection;
  if (position.kind === folder.kind) {
    return isDescending
      ? { ...selection, to: Math.min(to, position.seq) }
      : { ...selection, from: Math.max(from, position.seq + 1) };
  }
  // Of the same place, messages of the lower kind stand before.
  const isBefore = KIND_BYTE[folder.kind] < KIND_BYTE[position.kind];
  const bound = firstPlaced(reader, folder, isBefore ? position.at + 1 : position.at);
  return isDescending
    ? { ...selection, to: Math.min(to, bound) }
    : { ...selection, from: Math.max(from, bound) };
}

/** The place in time of a message with this line. */
export function placeOf(reader: Reader, key: Folder & { readonly seq: number }, summary: Buffer): number {
  return instantOf(summary) + shiftOf(getCounters(reader, key), key.seq);
}

/** What the clock said when the message at a position was received or submitted. */
export function instantAt(reader: Reader, inboxId: InboxId, { at, kind, seq }: MemberPosition): number {
  return at - shiftOf(getCounters(reader, { inboxId, kind }), seq);
}

/** None when its line is missing (damage). */
export function readMember(reader: Reader, key: Folder & { readonly seq: number }): Member[] {
  const summary = reader.get(summariesTable, key);
  return summary === undefined
    ? []
    : [{ at: placeOf(reader, key, summary), kind: key.kind, seq: key.seq, summary }];
}

/** The first or the last member in order; null when there is none. */
export function edgeOf(
  reader: Reader,
  place: ThreadPlace,
  edge: 'earliest' | 'latest',
): MemberPosition | null {
  const [member] = scanMembers(reader, place, { isDescending: edge === 'latest', position: null, limit: 1 });
  return member === undefined ? null : { at: member.at, kind: member.kind, seq: member.seq };
}
