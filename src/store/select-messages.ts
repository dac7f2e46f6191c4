import {
  BLOCK_BITS,
  blockOf,
  clip,
  dropBlock,
  dropWords,
  emptyWords,
  fillAll,
  keepBlock,
  loadBlock,
  offsetsOf,
  popCount,
  seqAt,
  type Words,
} from './bit-block.js';
import type { Mailbox } from './mailboxes.js';
import { getBlock, type Term, termKey } from './postings.js';
import type { Reader } from './reader-writer.js';

/**
 * Which messages of a mailbox: those in every set of `all`, in at least one of `any` (when it is not
 * empty), in none of `none`, with numbers from `from` up to but not including `to`. Sets that are likely to
 * end the matter stand first: the smallest of `all`, the largest of `any` and `none`.
 */
export interface Selection {
  readonly all: readonly Term[];
  readonly any: readonly Term[];
  readonly none: readonly Term[];
  readonly from: number;
  readonly to: number;
}

export interface Selected {
  /** Numbers in the order of the walk. */
  readonly seqs: readonly number[];
  /** How far a walk came that looked at as many blocks as it may: go on from there. Null: it is complete. */
  readonly stoppedAt: number | null;
}

/** Blocks of sets that one walk looks at: some milliseconds. One set of a mailbox of 130 million messages. */
const MAX_LOOKS = 2_000;

/**
 * The first `limit` messages of a selection, newest or oldest first. Costs a look at each set for each
 * block of 65,408 numbers up to where the page is full.
 */
export function selectMessages(
  reader: Reader,
  mailbox: Mailbox,
  selection: Selection,
  page: { readonly isDescending: boolean; readonly limit: number },
): Selected {
  const sets = new SelectionSets(reader, mailbox, selection);
  const seqs: number[] = [];
  for (const block of blocksOf(selection, page.isDescending)) {
    if (sets.looks >= MAX_LOOKS) {
      return { seqs, stoppedAt: page.isDescending ? seqAt(block, BLOCK_BITS) : seqAt(block, 0) };
    }
    const words = sets.combine(block);
    if (words === null) continue;
    for (const offset of offsetsOf(words, page.isDescending, page.limit - seqs.length)) {
      seqs.push(seqAt(block, offset));
    }
    if (seqs.length >= page.limit) break;
  }
  return { seqs, stoppedAt: null };
}

/** How many messages of a selection one walk has found, and where the next begins; null at the end. */
export interface Counted {
  readonly count: number;
  readonly stoppedAt: number | null;
}

/** Counts a selection, from the oldest message on, by population counts of its blocks. */
export function countSelected(reader: Reader, mailbox: Mailbox, selection: Selection): Counted {
  const sets = new SelectionSets(reader, mailbox, selection);
  let count = 0;
  for (const block of blocksOf(selection, false)) {
    if (sets.looks >= MAX_LOOKS) return { count, stoppedAt: seqAt(block, 0) };
    const words = sets.combine(block);
    if (words !== null) count += popCount(words);
  }
  return { count, stoppedAt: null };
}

/** Numbers of the blocks that a selection reaches, in the order of the walk. */
function* blocksOf({ from, to }: Selection, isDescending: boolean): Generator<number> {
  if (to <= from) return;
  const first = blockOf(from);
  const last = blockOf(to - 1);
  if (isDescending) for (let block = last; block >= first; block--) yield block;
  else for (let block = first; block <= last; block++) yield block;
}

class SelectionSets {
  readonly #reader: Reader;
  readonly #selection: Selection;
  readonly #all: readonly Buffer[];
  readonly #any: readonly Buffer[];
  readonly #none: readonly Buffer[];
  readonly #words = emptyWords();
  readonly #missed = emptyWords();
  /** Blocks looked at so far. */
  looks = 0;

  constructor(reader: Reader, mailbox: Mailbox, selection: Selection) {
    const keys = (terms: readonly Term[]): Buffer[] => terms.map(term => termKey(mailbox, term));
    this.#reader = reader;
    this.#selection = selection;
    this.#all = keys(selection.all);
    this.#any = keys(selection.any);
    // Only live messages have labels; without a set to be in, those that are gone must be taken out.
    const isOpen = selection.all.length + selection.any.length === 0;
    this.#none = keys(isOpen ? [{ type: 'gone' }, ...selection.none] : selection.none);
  }

  /** The matches in one block; null when there is none. The answer is good until the next call. */
  combine(block: number): Words | null {
    const words = this.#words;
    const { from, to } = this.#selection;
    if (!this.#loadAll(words, block)) return null;
    clip(words, from - seqAt(block, 0), to - seqAt(block, 0));
    for (const key of this.#none) {
      const bytes = this.#look(key, block);
      if (bytes !== undefined && !dropBlock(words, bytes)) return null;
    }
    return this.#any.length === 0 || this.#keepAny(words, block) ? words : null;
  }

  #loadAll(words: Words, block: number): boolean {
    const [first, ...others] = this.#all;
    if (first === undefined) {
      fillAll(words);
      return true;
    }
    const bytes = this.#look(first, block);
    if (bytes === undefined) return false;
    loadBlock(words, bytes);
    for (const key of others) {
      const other = this.#look(key, block);
      if (other === undefined || !keepBlock(words, other)) return false;
    }
    return true;
  }

  /** Keeps what is in one set of `any`, by what is in none of them: often that is soon nothing. */
  #keepAny(words: Words, block: number): boolean {
    const missed = this.#missed;
    let isEmpty = true;
    for (const key of this.#any) {
      const bytes = this.#look(key, block);
      if (bytes === undefined) continue;
      if (isEmpty) missed.set(words);
      isEmpty = false;
      if (!dropBlock(missed, bytes)) return true;
    }
    return !isEmpty && dropWords(words, missed);
  }

  #look(key: Buffer, block: number): Buffer | undefined {
    this.looks += 1;
    return getBlock(this.#reader, key, block);
  }
}
