import type { InboxId, ThreadId } from '../domain/ids.js';
import { KINDS, type MessageKind } from './mailboxes.js';
import { blocksOfTerm, getBlock, termKey } from './postings.js';
import type { Reader } from './reader-writer.js';
import { SelectionMask } from './select-messages.js';
import {
  compareMembers,
  type Member,
  type MemberConditions,
  type MemberPosition,
  readMember,
  threadTerm,
} from './thread-members.js';
import { sentCount, type ThreadRecord } from './threads.js';

/** Members that meet conditions. */
export interface MaskedMembers {
  readonly count: number;
  /** The newest first, as many as were asked for. */
  readonly newest: readonly Member[];
}

const NONE: MaskedMembers = { count: 0, newest: [] };

/**
 * Which members of conversations meet conditions, for a walk over thousands of them in one event turn: blocks of
 * the conditions are combined once, and small conversations are known from their record alone.
 */
export class MemberMask {
  readonly #reader: Reader;
  readonly #inboxId: InboxId;
  readonly #masks: Readonly<Record<MessageKind, SelectionMask>>;

  constructor(reader: Reader, inboxId: InboxId, conditions: MemberConditions) {
    const maskOf = (kind: MessageKind) => new SelectionMask(reader, { inboxId, kind }, conditions[kind]);
    this.#reader = reader;
    this.#inboxId = inboxId;
    this.#masks = { received: maskOf('received'), sent: maskOf('sent') };
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

  /** The same of any conversation: costs a look at each of its blocks. */
  of(root: ThreadId, { counts }: ThreadRecord, limit: number): MaskedMembers {
    const byKind = { received: counts.received, sent: sentCount(counts) };
    const found = KINDS.filter(kind => byKind[kind] > 0).map(kind => this.#ofKind(root, kind, limit));
    const [first = NONE, second = NONE] = found;
    const newest = [...first.newest, ...second.newest].sort((a, b) => compareMembers(b, a));
    return { count: first.count + second.count, newest: newest.slice(0, limit) };
  }

  #ofKind(root: ThreadId, kind: MessageKind, limit: number): MaskedMembers {
    const mailbox = { inboxId: this.#inboxId, kind };
    const key = termKey(mailbox, threadTerm(root));
    let count = 0;
    const newest: Member[] = [];
    for (const block of blocksOfTerm(this.#reader, mailbox, threadTerm(root)).reverse()) {
      const bytes = getBlock(this.#reader, key, block);
      if (bytes === undefined) continue;
      const match = this.#masks[kind].match(block, bytes, limit - newest.length);
      count += match.count;
      for (const seq of match.seqs) newest.push(...this.#read({ kind, seq }));
    }
    return { count, newest };
  }

  #read({ kind, seq }: Pick<MemberPosition, 'kind' | 'seq'>): Member[] {
    return readMember(this.#reader, { inboxId: this.#inboxId, kind, seq });
  }
}
