import type { InboxId, MessageId, ThreadId } from '../domain/ids.js';
import { BLOCK_BITS, emptyWords, loadBlock, offsetsOf, seqAt } from '../store/bit-block.js';
import type { Mailbox, MessageKind } from '../store/mailboxes.js';
import { blocksOfTerm, getBlock, termKey } from '../store/postings.js';
import type { Reader } from '../store/reader-writer.js';
import { idField } from '../store/summary-fields.js';
import { compareMembers, type Member, mailboxesOf, readMember, threadTerm } from '../store/thread-members.js';

/**
 * The members that a conversation had at one instant, to be worked through bit by bit: what joins it
 * meanwhile is not among them. Keeps the blocks of its sets, 8 KiB for 65,408 messages at most.
 */
export class ThreadSelection {
  readonly #walks: readonly Walk[];

  constructor(reader: Reader, inboxId: InboxId, root: ThreadId) {
    this.#walks = mailboxesOf(inboxId).map(mailbox => new Walk(reader, mailbox, root));
  }

  /** All members have been taken. */
  get isDone(): boolean {
    return this.#walks.every(walk => walk.isDone);
  }

  /** The next ones in order that are still live, at most `limit`; it does not look far for them. */
  take(reader: Reader, limit: number): { readonly kind: MessageKind; readonly id: MessageId }[] {
    const taken: { kind: MessageKind; id: MessageId }[] = [];
    for (let looks = 0; looks < MAX_LOOKS && taken.length < limit && !this.isDone; looks++) {
      const next = this.#next(reader);
      if (next === null) continue;
      const id = idField<MessageId>(next.summary, 'id');
      if (id !== null) taken.push({ kind: next.kind, id });
    }
    return taken;
  }

  /** The next member; null where one that is gone by now was met. */
  #next(reader: Reader): Member | null {
    let first: { readonly walk: Walk; readonly member: Member } | null = null;
    for (const walk of this.#walks) {
      if (walk.isDone) continue;
      const member = walk.peek(reader);
      if (member === null) return null;
      if (first === null || compareMembers(member, first.member) < 0) first = { walk, member };
    }
    first?.walk.step();
    return first?.member ?? null;
  }
}

/** Members that a unit of work looks at, those included that have gone. */
const MAX_LOOKS = 500;

/** The members of one kind in order. */
class Walk {
  readonly #mailbox: Mailbox;
  readonly #blocks: { readonly block: number; readonly bytes: Buffer }[] = [];
  #seqs: number[] = [];
  #member: Member | null = null;

  constructor(reader: Reader, mailbox: Mailbox, root: ThreadId) {
    this.#mailbox = mailbox;
    const key = termKey(mailbox, threadTerm(root));
    for (const block of blocksOfTerm(reader, mailbox, threadTerm(root))) {
      const bytes = getBlock(reader, key, block);
      if (bytes !== undefined) this.#blocks.push({ block, bytes: Buffer.from(bytes) });
    }
  }

  get isDone(): boolean {
    return this.#member === null && this.#seqs.length === 0 && this.#blocks.length === 0;
  }

  /** The member at hand; null when it has gone, which has been stepped over. */
  peek(reader: Reader): Member | null {
    if (this.#member === null) {
      if (this.#seqs.length === 0) this.#loadBlock();
      const seq = this.#seqs.pop() ?? 0;
      this.#member = readMember(reader, { ...this.#mailbox, seq })[0] ?? null;
    }
    return this.#member;
  }

  step(): void {
    this.#member = null;
  }

  #loadBlock(): void {
    const next = this.#blocks.shift();
    if (next === undefined) return;
    const words = emptyWords();
    loadBlock(words, next.bytes);
    this.#seqs = offsetsOf(words, true, BLOCK_BITS).map(offset => seqAt(next.block, offset));
  }
}
