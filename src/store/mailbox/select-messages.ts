import {
  BLOCK_BITS,
  blockOf,
  clip,
  dropWords,
  fastWords,
  fillAll,
  keepWords,
  matchBlock,
  offsetOf,
  offsetsOf,
  popCount,
  seqAt,
  type Words,
} from '../bitmap/bit-block.js';
import type { CachedSet } from '../bitmap/block-cache.js';
import type { Reader } from '../engine/tables.js';
import { getCounters, type Mailbox } from './mailboxes.js';
import { getBlock, type Term, termKey } from './postings.js';

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
 * @param blocks those to look at, in ascending order, where they are known
 */
export function selectMessages(
  reader: Reader,
  mailbox: Mailbox,
  selection: Selection,
  page: { readonly isDescending: boolean; readonly limit: number },
  blocks?: readonly number[],
): Selected {
  const sets = new SelectionSets(reader, mailbox, selection);
  const seqs: number[] = [];
  for (const block of blocksOf(selection, page.isDescending, blocks)) {
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
function* blocksOf(
  { from, to }: Selection,
  isDescending: boolean,
  known?: readonly number[],
): Generator<number> {
  if (to <= from) return;
  const first = blockOf(from);
  const last = blockOf(to - 1);
  if (known !== undefined) {
    const reached = known.filter(block => block >= first && block <= last);
    yield* isDescending ? reached.reverse() : reached;
  } else if (isDescending) for (let block = last; block >= first; block--) yield block;
  else for (let block = first; block <= last; block++) yield block;
}

/**
 * Which messages of a mailbox are in a selection, asked for here and there: each block is combined once. Good as
 * long as the reader is.
 */
export class SelectionMask {
  readonly #combine: (block: number) => Words | null;
  readonly #blocks = new Map<number, Words | null>();

  constructor(reader: Reader, mailbox: Mailbox, selection: Selection) {
    // Walks of others come in between: each block is a walk of its own, and what it gives is kept apart.
    this.#combine = block => new SelectionSets(reader, mailbox, selection).combine(block)?.slice() ?? null;
  }

  has(seq: number): boolean {
    const words = this.#wordsOf(blockOf(seq));
    const offset = offsetOf(seq);
    return words !== null && ((words[offset >> 5] ?? 0) & (1 << (offset & 31))) !== 0;
  }

  /** Members of a stored block of some set that are in the selection: how many, and the newest of them. */
  match(
    block: number,
    bytes: Buffer,
    limit: number,
  ): { readonly count: number; readonly seqs: readonly number[] } {
    // The sets are read into the memory that the block lies in.
    const own = this.#blocks.has(block) ? bytes : Buffer.from(bytes);
    const words = this.#wordsOf(block);
    if (words === null) return { count: 0, seqs: [] };
    const { count, offsets } = matchBlock(words, own, limit);
    return { count, seqs: offsets.map(offset => seqAt(block, offset)) };
  }

  #wordsOf(block: number): Words | null {
    let words = this.#blocks.get(block);
    if (words === undefined) {
      words = this.#combine(block);
      this.#blocks.set(block, words);
    }
    return words;
  }
}

/** A walk is over before another begins: they all combine in the same words. */
let working: { readonly result: Words; readonly missed: Words } | undefined;

class SelectionSets {
  readonly #result: Words;
  readonly #missed: Words;
  readonly #version: number;
  readonly #selection: Selection;
  readonly #all: readonly CachedSet[];
  readonly #any: readonly CachedSet[];
  readonly #none: readonly CachedSet[];
  readonly #read: (key: Buffer, block: number) => Buffer | undefined;
  /** Blocks looked at so far. */
  looks = 0;

  constructor(reader: Reader, mailbox: Mailbox, selection: Selection) {
    working ??= { result: fastWords(), missed: fastWords() };
    this.#result = working.result;
    this.#missed = working.missed;
    const { all, any, none } = selection;
    this.#version = getCounters(reader, mailbox).version;
    this.#read = (key, block) => getBlock(reader, key, block);
    this.#selection = selection;
    // Only live messages have labels; without a set to be in, those that are gone must be taken out.
    const without: readonly Term[] = all.length + any.length === 0 ? [{ type: 'gone' }, ...none] : none;
    const sets = reader.blocks.begin([...all, ...any, ...without].map(term => termKey(mailbox, term)));
    this.#all = sets.slice(0, all.length);
    this.#any = sets.slice(all.length, all.length + any.length);
    this.#none = sets.slice(all.length + any.length);
  }

  /** The matches in one block; null when there is none. The answer is good until the next call. */
  combine(block: number): Words | null {
    const result = this.#result;
    const { from, to } = this.#selection;
    if (!this.#loadAll(block)) return null;
    clip(result, from - seqAt(block, 0), to - seqAt(block, 0));
    for (const set of this.#none) {
      const words = this.#look(set, block);
      if (words !== null && !dropWords(result, words)) return null;
    }
    return this.#any.length === 0 || this.#keepAny(block) ? result : null;
  }

  #loadAll(block: number): boolean {
    const result = this.#result;
    const [first, ...others] = this.#all;
    if (first === undefined) {
      fillAll(result);
      return true;
    }
    const words = this.#look(first, block);
    if (words === null) return false;
    result.set(words);
    for (const set of others) {
      const other = this.#look(set, block);
      if (other === null || !keepWords(result, other)) return false;
    }
    return true;
  }

  /** Keeps what is in one set of `any`, by what is in none of them: often that is soon nothing. */
  #keepAny(block: number): boolean {
    const [result, missed] = [this.#result, this.#missed];
    let isEmpty = true;
    for (const set of this.#any) {
      const words = this.#look(set, block);
      if (words === null) continue;
      if (isEmpty) missed.set(result);
      isEmpty = false;
      if (!dropWords(missed, words)) return true;
    }
    return !isEmpty && dropWords(result, missed);
  }

  #look(set: CachedSet, block: number): Words | null {
    this.looks += 1;
    return set.get(block, this.#version, this.#read);
  }
}
