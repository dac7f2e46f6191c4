import {
  andBlock,
  andWords,
  BLOCK_BITS,
  blockOf,
  clip,
  emptyWords,
  fillAll,
  offsetsOf,
  orBlock,
  popCount,
  seqAt,
  subtractBlock,
  type Words,
} from './bit-block.js';
import { blockKey, getBlock, type Mailbox, postingsTable, type Term, termPrefix } from './postings.js';
import type { Reader } from './reader-writer.js';

/**
 * Which messages of a mailbox: those in every set of `all`, in at least one of `any` (when it is not
 * empty), in none of `none`, with numbers from `from` up to but not including `to`. The caller puts the
 * smallest set first in `all`: its blocks are the ones that are walked.
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
  /** The walk looked at as many blocks as it may: everything before this one was looked at. Null: it is complete. */
  readonly stoppedAt: number | null;
}

/** Blocks that one selection may look at: eight million messages, some milliseconds. */
const MAX_BLOCKS = 1024;

/**
 * The first `limit` messages of a selection, newest or oldest first. Costs a look at each set for each
 * block up to where the page is full, however many messages there are beyond.
 */
export function selectMessages(
  reader: Reader,
  mailbox: Mailbox,
  selection: Selection,
  page: { readonly isDescending: boolean; readonly limit: number },
): Selected {
  const sets = new SelectionSets(reader, mailbox, selection);
  const seqs: number[] = [];
  let looked = 0;
  for (const block of sets.candidates(page.isDescending)) {
    if (looked++ >= MAX_BLOCKS) {
      const next = page.isDescending ? seqAt(block, BLOCK_BITS) : seqAt(block, 0);
      return { seqs, stoppedAt: next };
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

/** How many messages a selection has: a population count over every block that can hold one. */
export function countMessages(reader: Reader, mailbox: Mailbox, selection: Selection): number {
  const sets = new SelectionSets(reader, mailbox, selection);
  let count = 0;
  for (const block of sets.candidates(true)) {
    const words = sets.combine(block);
    if (words !== null) count += popCount(words);
  }
  return count;
}

class SelectionSets {
  readonly #reader: Reader;
  readonly #selection: Selection;
  readonly #all: readonly Buffer[];
  readonly #any: readonly Buffer[];
  readonly #none: readonly Buffer[];
  readonly #words = emptyWords();
  readonly #union = emptyWords();

  constructor(reader: Reader, mailbox: Mailbox, selection: Selection) {
    const prefixes = (terms: readonly Term[]): Buffer[] => terms.map(term => termPrefix(mailbox, term));
    this.#reader = reader;
    this.#selection = selection;
    this.#all = prefixes(selection.all);
    this.#any = prefixes(selection.any);
    // Only live messages have labels; without a set to be in, those that are gone must be taken out.
    const isOpen = selection.all.length + selection.any.length === 0;
    this.#none = prefixes(isOpen ? [{ type: 'gone' }, ...selection.none] : selection.none);
  }

  /** Numbers of the blocks that may hold a match, in the order of the walk. */
  candidates(isDescending: boolean): Iterable<number> {
    const { from, to } = this.#selection;
    if (to <= from) return [];
    const first = blockOf(from);
    const last = blockOf(to - 1);
    const [driver] = this.#all;
    if (driver !== undefined) return this.#blocksOf(driver, first, last, isDescending);
    if (this.#any.length > 0) {
      const walks = this.#any.map(prefix => this.#blocksOf(prefix, first, last, isDescending));
      return mergeDistinct(walks, isDescending);
    }
    return numbersBetween(first, last, isDescending);
  }

  /** The matches in one block; null when there is none. The answer is good until the next call. */
  combine(block: number): Words | null {
    const words = this.#words;
    if (!this.#fillFromAll(words, block)) return null;
    if (this.#any.length > 0 && !this.#keepAny(words, block)) return null;
    for (const prefix of this.#none) {
      const bytes = getBlock(this.#reader, prefix, block);
      if (bytes !== undefined) subtractBlock(words, bytes);
    }
    const { from, to } = this.#selection;
    clip(words, from - seqAt(block, 0), to - seqAt(block, 0));
    return words;
  }

  #fillFromAll(words: Words, block: number): boolean {
    const [driver, ...others] = this.#all;
    if (driver === undefined) {
      fillAll(words);
      return true;
    }
    words.fill(0);
    const bytes = getBlock(this.#reader, driver, block);
    if (bytes === undefined) return false;
    orBlock(words, bytes);
    for (const prefix of others) {
      const other = getBlock(this.#reader, prefix, block);
      if (other === undefined) return false;
      andBlock(words, other);
    }
    return true;
  }

  #keepAny(words: Words, block: number): boolean {
    const union = this.#union;
    union.fill(0);
    let isEmpty = true;
    for (const prefix of this.#any) {
      const bytes = getBlock(this.#reader, prefix, block);
      if (bytes === undefined) continue;
      orBlock(union, bytes);
      isEmpty = false;
    }
    if (isEmpty) return false;
    andWords(words, union);
    return true;
  }

  /** The blocks that a set has, read some keys at a time as the walk goes on. */
  *#blocksOf(prefix: Buffer, first: number, last: number, isDescending: boolean): Generator<number> {
    let low = first;
    let high = last;
    // The first page is often all that is needed.
    for (let limit = 4; low <= high; limit = 64) {
      const keys = this.#reader.scanKeys(postingsTable, {
        from: blockKey(prefix, low),
        to: blockKey(prefix, high + 1),
        reverse: isDescending,
        limit,
      });
      for (const key of keys) {
        const block = key.readUInt32BE(prefix.length);
        yield block;
        if (isDescending) high = block - 1;
        else low = block + 1;
      }
      if (keys.length < limit) return;
    }
  }
}

function* numbersBetween(first: number, last: number, isDescending: boolean): Generator<number> {
  if (isDescending) for (let number = last; number >= first; number--) yield number;
  else for (let number = first; number <= last; number++) yield number;
}

/** Merges ordered walks into one, each number once. */
function* mergeDistinct(walks: readonly Iterator<number>[], isDescending: boolean): Generator<number> {
  const heads = walks.map(walk => walk.next());
  for (;;) {
    let next: number | null = null;
    for (const head of heads) {
      if (head.done === true) continue;
      if (next === null || (isDescending ? head.value > next : head.value < next)) next = head.value;
    }
    if (next === null) return;
    yield next;
    for (const [index, head] of heads.entries()) {
      const walk = walks[index];
      if (head.done !== true && head.value === next && walk !== undefined) heads[index] = walk.next();
    }
  }
}
